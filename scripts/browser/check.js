// Drives a report with keys and clicks like a reader, in a real browser, and stores the results in the page's attribute
// data-checks.
'use strict';
const checks = [];
const check = (name, holds) => checks.push((holds ? 'ok ' : 'FAILED ') + name);
const all = () => [...document.querySelectorAll('.entry')];
const shownEntries = () => all().filter(entry => entry.offsetParent !== null);
const key = (name, target = document.activeElement) =>
  target.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
const type = text => {
  const input = document.getElementById('search');
  input.value = text;
  input.dispatchEvent(new Event('input', { bubbles: true }));
};
const count = all().length;
check('there are entries', count > 2);
check('failures are open', all().filter(e => e.classList.contains('failed')).every(e => e.open));
key('/');
check('/ goes to the search', document.activeElement.id === 'search');
type('NEEDLE');
check('the search finds words in closed entries, in any case', shownEntries().length > 0 && shownEntries().length < count);
const found = shownEntries().length;
check('the number that is shown is told', document.getElementById('shown').textContent === found + ' of ' + count);
key('Escape');
check('Escape shows all again', shownEntries().length === count && document.activeElement.id !== 'search');
const first = document.querySelector('button[data-kind]');
first.click();
check('a button hides its kind', shownEntries().every(e => e.dataset.kind !== first.dataset.kind) && first.getAttribute('aria-pressed') === 'false');
key('1');
check('a digit shows it again', shownEntries().length === count && first.getAttribute('aria-pressed') === 'true');
key('j', document.body);
check('j goes to the first entry', document.activeElement === all()[0].querySelector('summary'));
key('j');
check('j goes on', document.activeElement === all()[1].querySelector('summary'));
key('k');
check('k goes back', document.activeElement === all()[0].querySelector('summary'));
const wasOpen = all()[0].open;
document.activeElement.click();
check('an entry opens and closes', all()[0].open !== wasOpen);
key('c');
check('c closes all', all().every(e => !e.open));
key('e');
check('e opens all', all().every(e => e.open));
check('nothing is wider than the page', document.documentElement.scrollWidth <= document.documentElement.clientWidth);
check('nothing was loaded', performance.getEntriesByType('resource').length === 0);
const luminance = color => color.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
const style = getComputedStyle(document.body), isDark = matchMedia('(prefers-color-scheme: dark)').matches;
check(isDark ? 'the page is dark' : 'the page is light', luminance(style.backgroundColor) < luminance(style.color) === isDark);
document.body.setAttribute('data-checks', checks.join('\n'));
