// What we use of Swagger UI, whose script puts itself into the window. Its own types are in no package that it comes with.

export interface Props {
  readonly [name: string]: unknown;
}

export type Component = (props: Props) => unknown;

/** Swagger UI's own React. */
export interface React {
  createElement(type: string | Component, props: object | null, ...children: readonly unknown[]): unknown;
}

interface System {
  readonly React: React;
}

export type Plugin = (system: System) => {
  /** Instead of its own of that name. */
  readonly components: Readonly<Record<string, Component>>;
  /** Its own of that name, with something around. */
  readonly wrapComponents: Readonly<Record<string, (original: Component, system: System) => Component>>;
};

interface Options {
  readonly url: string;
  /** A CSS selector. */
  readonly dom_id: string;
  /** Whether what is open is in the address. */
  readonly deepLinking: boolean;
  /** null: nobody else is asked whether the document is right. */
  readonly validatorUrl: null;
  /** -1: the schemas are with their operations alone. */
  readonly defaultModelsExpandDepth: number;
  readonly syntaxHighlight: { readonly theme: string };
  readonly plugins: readonly Plugin[];
  readonly onComplete: () => void;
}

interface SwaggerUi {
  /** @param name of a security scheme of the document */
  preauthorizeApiKey(name: string, key: string): unknown;
}

declare global {
  interface Window {
    readonly SwaggerUIBundle: (options: Options) => SwaggerUi;
  }
}
