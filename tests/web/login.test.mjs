// login.test.mjs - the page that asks for the token, for a browser that has not shown it.
import assert from 'node:assert/strict';
import { sideBySide as scenario } from '../integration/lib/scenario.mjs';
import { launch, Person } from './lib/browser.mjs';

/** What is refused to a stranger is what this is about. */
const allow = (text) => /status of 403 \(Forbidden\)$|^status 403: \S+\/(login|#\/system)?$/.test(text);

scenario('a browser without the token is asked for it, and then shows what its address says', async (t) => {
  // Makes the token mandatory, for the owner too.
  const daemon = await t.daemon({ env: { HOST: '127.0.0.1' } });
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon, { hash: '#/system', allow });
  const { page } = person;
  const token = page.getByLabel('Token, as paigectl token prints it');
  await token.waitFor();
  await page.getByRole('main').getByRole('heading', { name: 'Paige' }).waitFor();
  await person.looks('login');
  await token.fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('status').getByText('This is not the token').waitFor();
  await person.looks('login-refused');
  await token.fill(` ${daemon.discovery.token}\n`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await person.connected();
  await page.getByRole('heading', { name: 'System' }).waitFor();
  await page.reload();
  await person.connected();
  await person.close();
});

scenario('the address of the login page itself leads to the page', async (t) => {
  const daemon = await t.daemon({ env: { HOST: '127.0.0.1' } });
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon, { hash: 'login', allow });
  const { page } = person;
  await page.getByLabel('Token, as paigectl token prints it').fill(daemon.discovery.token);
  await page.keyboard.press('Enter');
  await person.connected();
  assert.equal(new URL(page.url()).pathname, '/');
  await person.close();
});
