export function withoutInstallScript(manifest: object): object;
