// The few steps that every module needs to build elements and to keep settings. Text becomes text nodes here, never
// markup, so that nothing a peer wrote can act in the page.

/**
 * Builds an element. Strings among the children become text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * A button with an action. It never submits a form.
 * @param {string} text
 * @param {() => void} act
 * @param {string} [style]
 */
export function button(text, act, style = 'btn') {
  const made = element('button', { type: 'button', class: style }, text);
  made.addEventListener('click', act);
  return made;
}

/**
 * The matching elements below a node, and the node itself if it matches.
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {HTMLElement[]}
 */
export function all(root, selector) {
  /** @type {HTMLElement[]} */
  const found = [...root.querySelectorAll(selector)].filter((node) => node instanceof HTMLElement);
  if (root instanceof HTMLElement && root.matches(selector)) found.unshift(root);
  return found;
}

/**
 * Runs now for the whole page, and later for each part that `refresh.js` puts in.
 * @param {(root: ParentNode) => void} prepare
 */
export function forEachPart(prepare) {
  prepare(document);
  document.addEventListener('tandem:fresh', (event) => {
    if (event.target instanceof HTMLElement) prepare(event.target);
  });
}

/**
 * A stored setting, or null. A browser may refuse storage; then nothing is stored.
 * @param {string} name
 */
export function setting(name) {
  try {
    return localStorage.getItem(`tandem.${name}`);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string | null} value null removes it
 */
export function store(name, value) {
  try {
    if (value === null) localStorage.removeItem(`tandem.${name}`);
    else localStorage.setItem(`tandem.${name}`, value);
  } catch {
    // The setting then lasts as long as the page.
  }
}
