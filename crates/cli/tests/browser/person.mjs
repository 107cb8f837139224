// A person with a browser, for the story of the dashboard: a context of its own, in which everything that a page must not
// do is noted.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(import.meta.url);
const { chromium } = require('playwright-core');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
/** Rules of WCAG 2.2 AA and older. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

export const DESK = { viewport: { width: 1280, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true, args: ARGUMENTS });

export class Person {
  /** @type {string[]} */
  problems = [];
  /** Errors that a step provokes on purpose. */
  allowed = [];

  static async open(browser, hub, name, options = {}) {
    const person = new Person();
    Object.assign(person, { hub, name });
    person.context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    person.context.setDefaultTimeout(20_000);
    const note = (text) => {
      if (!person.allowed.some((pattern) => pattern.test(text))) person.problems.push(`${name}: ${text}`);
    };
    person.context.on('console', (message) => {
      if (message.type() === 'error') note(`console: ${message.text()} (${message.location().url})`);
    });
    person.context.on('weberror', (error) => note(`script: ${error.error().stack}`));
    person.context.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol !== 'data:' && url.protocol !== 'blob:' && url.origin !== hub) note(`request to ${request.url()}`);
    });
    person.context.on('dialog', (dialog) => { note(`a dialog: ${dialog.message()}`); void dialog.dismiss(); });
    person.page = await person.context.newPage();
    return person;
  }

  async signIn(key) {
    await this.go('/app/sign-in');
    await this.page.getByLabel('Key or token').fill(key);
    await this.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await this.page.waitForURL(/\/app\/(agent_|admin)/);
    this.base = new URL(this.page.url()).pathname;
  }

  async go(path) {
    const answer = await this.page.goto(this.hub + path);
    if (answer !== null && answer.status() >= 400) throw new Error(`${this.name}: ${path} is ${answer.status()}`);
  }

  /** A page of the agent that is signed in. */
  at(path = '') {
    return this.go(`${this.base}${path}`);
  }

  button(name) {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** What axe finds serious, and whether the page is wider than the screen. */
  async inspect(screen, scheme) {
    const { page } = this;
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.evaluate(AXE);
    const found = await page.evaluate((values) => window.axe.run(document, { runOnly: { type: 'tag', values } }), RULES);
    for (const violation of found.violations.filter((one) => ['serious', 'critical'].includes(one.impact))) {
      const places = violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join('\n  ');
      this.problems.push(`${this.name}, ${screen}, ${scheme}: ${violation.id}: ${violation.help}\n  ${places}`);
    }
    const wide = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      if (scrollWidth <= clientWidth) return [];
      const scrolls = (element) => element !== null
        && (['auto', 'scroll', 'hidden'].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
      return [...document.querySelectorAll('main *, header *, nav *')]
        .filter((element) => element.getBoundingClientRect().right > clientWidth + 1 && !scrolls(element.parentElement))
        .slice(0, 4).map((element) => element.outerHTML.slice(0, 150));
    });
    if (wide.length > 0) this.problems.push(`${this.name}, ${screen}: wider than the screen:\n  ${wide.join('\n  ')}`);
  }
}
