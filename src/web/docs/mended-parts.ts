// Parts of Swagger UI that people without a mouse or a screen cannot use as they come: named, focusable, not nested.

import type { Component, Plugin, Props, React } from './swagger-ui.ts';

/** @param mend changes elements after they were drawn */
function drawn(React: React, original: Component, mend: (place: Element, props: Props) => void): Component {
  return (props) => {
    const ref = (place: Element | null): void => {
      if (place !== null) mend(place, props);
    };
    return React.createElement('div', { ref }, React.createElement(original, props));
  };
}

/** What may be wider or longer than its frame is scrolled with a keyboard once it has the focus. */
function letScroll(place: Element): void {
  for (const text of place.querySelectorAll('pre')) text.tabIndex = 0;
}

function nameSelect(place: Element, { description }: Props): void {
  for (const select of place.querySelectorAll('select')) select.ariaLabel = String(description);
}

export const mendedParts: Plugin = ({ React }) => ({
  components: {
    // There is one: this one.
    ServersContainer: () => null,
    CloseIcon: () => React.createElement('span', { role: 'img', 'aria-label': 'Close' }, '×'),
    // A link inside of the button that opens the operation. The button puts the operation into the address as well.
    DeepLink: ({ text }) => React.createElement('span', null, text),
  },
  wrapComponents: {
    // Its names are other ones than those that are seen.
    Button:
      (original) =>
      ({ 'aria-label': _name, ...props }) =>
        React.createElement(original, props),
    TextArea: (original) => (props) => React.createElement(original, { 'aria-label': 'Request body', ...props }),
    JsonSchemaForm: (original) => drawn(React, original, nameSelect),
    HighlightCode: (original) => drawn(React, original, letScroll),
    curl: (original) => drawn(React, original, letScroll),
  },
});
