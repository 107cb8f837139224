// The few steps that every module needs to build elements and to keep settings. Text becomes text nodes here, never
// markup, so that nothing a peer wrote can act in the page.

/**
 * Builds an element. Strings among the children become text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Record<string, string>} attributes @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A button that never submits a form. @param {string} text @param {() => void} act */
export function button(text, act, style = 'btn') {
  const made = element('button', { type: 'button', class: style }, text);
  made.addEventListener('click', act);
  return made;
}

/**
 * The matching elements below a node, and the node itself if it matches.
 * @param {ParentNode} root @param {string} selector @returns {HTMLElement[]}
 */
export function all(root, selector) {
  /** @type {HTMLElement[]} */
  const found = [...root.querySelectorAll(selector)].filter((node) => node instanceof HTMLElement);
  return root instanceof HTMLElement && root.matches(selector) ? [root, ...found] : found;
}

/** @param {string} id */
export const byId = (id) => document.getElementById(id);

/** Runs now for the page, and later for each part that is put in. @param {(root: ParentNode) => void} prepare */
export function forEachPart(prepare) {
  prepare(document);
  document.addEventListener('tandem:fresh', (event) => prepare(/** @type {HTMLElement} */ (event.target)));
}

/**
 * Shows the elements that need JavaScript and acts when one is pressed.
 * @param {string} selector @param {(pressed: HTMLElement) => void} act
 */
export function onPress(selector, act) {
  forEachPart((root) => {
    for (const found of all(root, selector)) found.hidden = false;
  });
  document.addEventListener('click', ({ target }) => {
    const pressed = target instanceof Element ? target.closest(selector) : null;
    if (pressed instanceof HTMLElement) act(pressed);
  });
}

/** A stored setting. A browser may refuse storage; then there is none. @param {string} name */
export function setting(name) {
  try {
    return localStorage.getItem(`tandem.${name}`);
  } catch {
    return null;
  }
}

/** Stores a setting; null removes it. @param {string} name @param {string | null} value */
export function store(name, value) {
  try {
    if (value === null) localStorage.removeItem(`tandem.${name}`);
    else localStorage.setItem(`tandem.${name}`, value);
  } catch {
    // The setting then lasts as long as the page.
  }
}
