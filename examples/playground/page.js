// The page: draws what the stand-in holds and sends what people do.
//
// It keeps no truth of its own. Whatever changes, the state is read again and what differs is drawn
// again, so the page shows what Discord's people would see. What the person is just doing (an open
// list, a modal, a text) stays where it is meanwhile.

import { el, tick } from './markdown.js';
import { below, dots, drawMessage, isEphemeral, nameOf, optionsOf } from './message.js';
import { Composer } from './composer.js';

const $ = (id) => document.getElementById(id);
const MANY = 1; // more than this may be chosen: a list with ticks
const about = await (await fetch('/about')).json();

let me = about.people[0].id;
let state = null;
let guild = null;
let stream = null;
const busy = new Set();
const dismissed = new Set();
const seen = new Map();
const typing = new Map();
const panes = {
  main: { root: $('main'), channel: null, composer: null, drawn: new Map() },
  thread: { root: $('thread'), channel: null, composer: null, drawn: new Map() },
};

const person = () => about.people.find((one) => one.id === me);
const find = (list, id) => list.find((one) => one.id === id);

const names = {
  get locale() { return person().locale; },
  user: (id) => { const found = guild.members.find((member) => member.user.id === id); return found && nameOf(found.user); },
  channel: (id) => (find(guild.channels, id) ?? find(guild.threads, id))?.name,
  role: (id) => find(guild.roles, id)?.name,
};

// ---- talking to the server ---------------------------------------------------

async function post(address, body, type) {
  const answer = await fetch(address, { method: 'POST', headers: { 'content-type': type }, body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text || `The playground answered ${answer.status}.`);
  return text ? JSON.parse(text) : {};
}

const send = (act) => post('/act', JSON.stringify({ as: me, ...act }), 'application/json');
const upload = async (file) => (await post(`/upload?name=${encodeURIComponent(file.name)}`, file, 'application/octet-stream')).id;

// An act that the bot answers: opens its modal, or says that nothing came.
async function interact(act) {
  const answer = await send(act);
  if (answer.answer === 'none') throw new Error('The application did not respond.');
  if (answer.answer === 'modal') openModal(answer.modal, answer.interaction);
  return answer;
}

async function press(act, key) {
  if (busy.has(key)) return;
  busy.add(key);
  redraw();
  try {
    const { answer } = await interact(act);
    const pane = Object.values(panes).find((one) => one.drawn.has(key.split('/')[0]));
    if (pane && (answer === 'message' || answer === 'deferred')) follow(pane);
  } catch (problem) {
    notice(problem.message);
  } finally {
    busy.delete(key);
    redraw();
  }
}

function notice(text) {
  const node = el('div', { class: 'toast' }, text);
  $('notices').append(node);
  setTimeout(() => node.remove(), 6000);
}

// ---- state -------------------------------------------------------------------

let wanted = false;
let reading = null;

// Reads until nothing changed while reading.
function refresh() {
  wanted = true;
  reading ??= (async () => {
    while (wanted) {
      wanted = false;
      const open = [panes.main.channel, panes.thread.channel].filter(Boolean).join(',');
      try {
        const answer = await fetch(`/state?as=${me}&open=${open}`);
        if (!answer.ok) throw new Error(await answer.text());
        state = await answer.json();
        guild = state.guilds[0];
        redraw();
      } catch {
        connection(false);
        break;
      }
    }
    reading = null;
  })();
  return reading;
}

function connection(up) {
  document.body.classList.toggle('offline', !up);
}

function listen() {
  stream?.close();
  stream = new EventSource(`/events?as=${me}`);
  stream.onopen = () => { connection(true); refresh(); };
  stream.onerror = () => connection(false);
  stream.onmessage = (event) => {
    const change = JSON.parse(event.data);
    if (change.name === 'TYPING_START') {
      typing.set(change.channel, Date.now() + 9000);
      drawTyping();
      return;
    }
    if (change.name === 'MESSAGE_CREATE') {
      typing.delete(change.channel);
      drawTyping();
    }
    refresh();
  };
}

// ---- where we are --------------------------------------------------------------

function route() {
  const [, channel, thread] = location.hash.split('/');
  const first = guild.channels[0].id;
  const at = find(guild.channels, channel) ? channel : first;
  show(panes.main, at);
  show(panes.thread, find(guild.threads, thread) ? thread : null);
  $('thread').hidden = !panes.thread.channel;
  document.body.classList.toggle('in-thread', Boolean(panes.thread.channel));
  closeSidebar();
  closePopover();
  return refresh();
}

function show(pane, channel) {
  if (pane.channel === channel) return;
  pane.channel = channel;
  pane.drawn.clear();
  pane.fresh = true;
  pane.follow = false;
  pane.root.querySelector('.jump').hidden = true;
  pane.root.querySelector('.log').replaceChildren();
  pane.composer = null;
  pane.root.querySelector('.write').replaceChildren();
  if (!channel) return;
  const title = names.channel(channel);
  pane.composer = new Composer(pane.root.querySelector('.write'), channel, {
    title: pane === panes.main ? `#${title}` : title,
    commands, localized, upload,
    send: (act) => { if (act.do === 'say') pane.follow = true; return send(act); },
    people: () => guild.members.map((member) => member.user),
    channels: () => guild.channels,
    roles: () => guild.roles,
    command: async (act, taken) => { pane.follow = true; await interact(act); taken(); },
  });
}

for (const pane of Object.values(panes)) {
  const scroll = pane.root.querySelector('.scroll');
  const jump = pane.root.querySelector('.jump');
  jump.addEventListener('click', () => { scroll.scrollTop = scroll.scrollHeight; });
  scroll.addEventListener('scroll', () => {
    const atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
    if (atEnd) jump.hidden = true;
    else pane.follow = false;
  });
}

const openThread = (id) => { location.hash = `#/${panes.main.channel}/${id}`; };
const closeThread = () => { location.hash = `#/${panes.main.channel}`; };

// Each command or subcommand that the bot has registered.
function commands() {
  const all = [];
  const walk = (path, node) => {
    const below = (node.options ?? []).filter((option) => option.type === 1 || option.type === 2);
    if (below.length) below.forEach((option) => walk(`${path} ${option.name}`, option));
    else all.push({ path, ...node, options: node.options ?? [] });
  };
  for (const command of guild.commands) if ((command.type ?? 1) === 1) walk(command.name, command);
  return all.sort((a, b) => (a.path === 'analyze' ? -1 : b.path === 'analyze' ? 1 : a.path.localeCompare(b.path)));
}

function localized(thing, key) {
  return thing[`${key}_localizations`]?.[person().locale] ?? thing[key] ?? '';
}

// ---- drawing -------------------------------------------------------------------

const around = {
  get me() { return me; },
  get bot() { return state.bot.id; },
  get titles() { return state.titles; },
  names, busy, openThread, openMenu, openSelect,
  act: press,
  people: () => guild.members.map((member) => member.user),
  roles: () => guild.roles,
  channels: () => guild.channels,
  dismiss: (id) => { dismissed.add(id); redraw(); },
};

// While something is pressed nothing is drawn anew under the finger: the press would be lost.
let pressed = false;
let due = false;
addEventListener('pointerdown', () => { pressed = true; }, true);
for (const end of ['pointerup', 'pointercancel']) {
  addEventListener(end, () => setTimeout(() => {
    pressed = false;
    if (due) redraw();
  }), true);
}

function redraw() {
  due = pressed;
  if (!state || pressed) return;
  drawSidebar();
  for (const pane of Object.values(panes)) if (pane.channel) drawPane(pane);
  drawTyping();
  $('title').textContent = `# ${names.channel(panes.main.channel) ?? ''}`;
  $('thread-title').textContent = names.channel(panes.thread.channel) ?? 'This thread is gone';
}

function drawPane(pane) {
  const messages = (state.messages[pane.channel] ?? []).filter((message) => !dismissed.has(message.id));
  const log = pane.root.querySelector('.log');
  const scroll = pane.root.querySelector('.scroll');
  const atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
  const focused = document.activeElement?.dataset?.key;
  const keep = new Map();
  let before = null;
  let place = log.firstChild;
  let grew = false;
  for (const message of messages) {
    const follows = before !== null && before.type === 0 && message.type === 0 && before.author.id === message.author.id
      && isEphemeral(before) === isEphemeral(message) && !message.interaction_metadata && new Date(message.timestamp) - new Date(before.timestamp) < 300000;
    const marks = [...busy].filter((key) => key.startsWith(`${message.id}/`));
    const print = JSON.stringify([message, follows, marks, names.locale, state.titles[message.id], state.titles[message.referenced_message?.id]]);
    let known = pane.drawn.get(message.id);
    if (known?.print !== print) {
      const node = drawMessage(message, around, follows);
      if (known) {
        if (place === known.node) place = node;
        known.node.replaceWith(node);
      } else {
        grew = true;
      }
      known = { print, node };
    }
    keep.set(message.id, known);
    if (known.node !== place) log.insertBefore(known.node, place);
    else place = place.nextSibling;
    before = message;
  }
  for (const [id, { node }] of pane.drawn) if (!keep.has(id)) node.remove();
  pane.drawn = keep;
  if (pane === panes.main) drawBanner();
  if (focused && document.activeElement?.dataset?.key !== focused) log.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  // A thread is read from its beginning; afterwards what is new comes into view only for readers at the end.
  if (pane.fresh && messages.length) {
    pane.fresh = false;
    scroll.scrollTop = pane === panes.thread ? 0 : scroll.scrollHeight;
  } else if (grew && (pane.follow || (atEnd && (pane === panes.main || scroll.scrollTop > 0)))) {
    scroll.scrollTop = scroll.scrollHeight;
  } else if (grew && scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight > 80) {
    pane.root.querySelector('.jump').hidden = false;
  }
  const last = messages.at(-1);
  if (last) seen.set(pane.channel, last.id);
}

// Whoever asked for something sees what comes.
function follow(pane) {
  const scroll = pane.root.querySelector('.scroll');
  pane.follow = true;
  scroll.scrollTop = scroll.scrollHeight;
}

function drawTyping() {
  for (const pane of Object.values(panes)) {
    const on = (typing.get(pane.channel) ?? 0) > Date.now();
    const node = pane.root.querySelector('.typing');
    if (on === (node.childElementCount > 0)) continue;
    node.replaceChildren(...(on ? [el('span', {}, dots(), el('b', {}, nameOf(state.bot)), ' is typing…')] : []));
  }
}

function drawSidebar() {
  const unread = (channel) => {
    if (!seen.has(channel.id)) seen.set(channel.id, channel.type === 0 ? channel.last_message_id ?? '0' : '0');
    return BigInt(channel.last_message_id ?? 0) > BigInt(seen.get(channel.id));
  };
  const entry = (channel, name, current, hash) => {
    const fresh = unread(channel);
    return el('a', { href: hash, class: `${current ? 'current' : ''}${fresh ? ' unread' : ''}`, 'aria-current': current ? 'page' : undefined },
      name, fresh ? el('span', { class: 'unseen' }, ' (unread)') : null);
  };
  const items = guild.channels.map((channel) => {
    const threads = guild.threads.filter((thread) => thread.parent_id === channel.id && !thread.thread_metadata.archived).reverse();
    const locked = channel.permission_overwrites.some((one) => one.id === guild.id && (BigInt(one.deny) & 1024n) !== 0n);
    return el('li', {}, entry(channel, `${locked ? '🔒' : '#'} ${channel.name}`, channel.id === panes.main.channel && !panes.thread.channel, `#/${channel.id}`),
      threads.length ? el('ul', {}, ...threads.map((thread) => el('li', {}, entry(thread, `🧵 ${thread.name}`, thread.id === panes.thread.channel, `#/${channel.id}/${thread.id}`)))) : null);
  });
  const print = JSON.stringify(items.map((item) => item.outerHTML));
  if ($('channels').dataset.print === print) return;
  $('channels').dataset.print = print;
  $('guild').textContent = guild.name;
  $('channels').replaceChildren(el('ul', {}, ...items));
}

function drawBanner() {
  const incidents = panes.main.channel === guild.channels[0].id;
  const used = (state.messages[panes.main.channel] ?? []).some((message) => message.author.id === state.bot.id);
  const print = `${incidents} ${used}`;
  const banner = $('banner');
  banner.hidden = !incidents;
  if (banner.dataset.print === print) return;
  banner.dataset.print = print;
  banner.classList.toggle('small', used);
  banner.replaceChildren(
    el('p', { class: 'what' }, el('b', {}, 'This channel has Precedent in it: report what is broken with /analyze, or click a report below, and it answers with what worked here before.'), ` ${about.engine}`),
    el('div', { class: 'examples' }, ...about.examples.map((example) => el('button', {
      type: 'button', class: 'example', on: { click: (event) => runExample(example, event.currentTarget) },
    }, el('span', { class: 'example-kind' }, example.kind), el('span', { class: 'example-text', lang: example.locale }, example.report)))));
}

async function runExample(example, button) {
  button.disabled = true;
  if (example.as !== me) become(example.as);
  try {
    await interact({ do: 'slash', channel: panes.main.channel, command: 'analyze', options: { report: example.report } });
  } catch (problem) {
    notice(problem.message);
  }
  button.disabled = false;
}

// ---- lists that open -------------------------------------------------------------

let opener = null;

function openPopover(at, from, ...children) {
  const box = $('popover');
  opener = from ?? null;
  box.replaceChildren(...children);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const fits = at.y + height < innerHeight - 8;
  box.style.left = `${Math.max(8, Math.min(at.x, innerWidth - width - 8))}px`;
  box.style.top = `${Math.max(8, fits ? at.y : Math.min((at.top ?? at.y) - height, innerHeight - height - 8))}px`;
  opener?.setAttribute('aria-expanded', 'true');
  const items = [...box.querySelectorAll('[role=option], [role=menuitem]')];
  (items.find((item) => item.getAttribute('aria-selected') === 'true') ?? items[0])?.focus();
  box.onkeydown = (event) => {
    const here = items.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && items.length) items[(here + step + items.length) % items.length].focus();
    else if (event.key === 'Escape') closePopover();
    else if ((event.key === 'Enter' || event.key === ' ') && here >= 0) items[here].click();
    else return;
    event.preventDefault();
  };
}

function closePopover() {
  const box = $('popover');
  if (box.hidden) return;
  box.hidden = true;
  const done = box.onclose;
  box.onclose = null;
  if (opener?.isConnected) {
    opener.setAttribute('aria-expanded', 'false');
    opener.focus({ preventScroll: true });
  }
  opener = null;
  done?.();
}

function openMenu(message, at, from) {
  closePopover();
  const pane = Object.values(panes).find((one) => one.drawn.has(message.id));
  const item = (label, run) => el('div', { role: 'menuitem', tabindex: -1, on: { click: () => { closePopover(); run(); } } }, label);
  const items = [];
  if (!isEphemeral(message) && message.type !== 21) {
    items.push(item('↪ Reply', () => pane?.composer.setReply(message)));
    if (message.thread) items.push(item('🧵 Open thread', () => openThread(message.thread.id)));
  }
  items.push(item('⧉ Copy text', () => navigator.clipboard.writeText(message.content || message.embeds.map((embed) => embed.description).join('\n')).catch(() => notice('The browser does not allow copying.'))));
  const apps = isEphemeral(message) ? [] : guild.commands.filter((command) => command.type === 3);
  if (apps.length) {
    items.push(el('div', { class: 'menu-head' }, 'Apps'));
    for (const command of apps) {
      items.push(item(localized(command, 'name'), () => press({ do: 'message_command', name: command.name, message: message.id }, `${message.id}/${command.name}`)));
    }
  }
  openPopover(at, from, el('div', { role: 'menu', 'aria-label': 'Message' }, ...items));
}

function openSelect(message, select, from) {
  const wasOpen = opener === from;
  closePopover();
  if (wasOpen) return;
  const options = optionsOf(select, around);
  const least = select.min_values ?? 1;
  const most = Math.min(select.max_values ?? 1, options.length);
  const many = most > MANY || least === 0;
  const key = `${message.id}/${select.custom_id}`;
  const before = new Set(options.filter((option) => option.default).map((option) => option.value));
  const chosen = new Set(before);
  const submit = (values) => press({ do: 'select', message: message.id, custom_id: select.custom_id, values }, key);
  const rows = options.map((option) => {
    const row = el('div', { role: 'option', tabindex: -1, 'aria-selected': chosen.has(option.value) },
      many ? el('span', { class: 'tick', 'aria-hidden': 'true' }) : null,
      el('span', { class: 'option-words' }, el('span', {}, option.label), option.description ? el('small', {}, option.description) : null));
    row.addEventListener('click', () => {
      if (!many) {
        closePopover();
        submit([option.value]);
        return;
      }
      if (chosen.has(option.value)) chosen.delete(option.value);
      else if (chosen.size < most) chosen.add(option.value);
      row.setAttribute('aria-selected', String(chosen.has(option.value)));
    });
    return row;
  });
  const list = el('div', { role: 'listbox', 'aria-label': select.placeholder || 'Options', 'aria-multiselectable': many ? 'true' : undefined }, ...rows);
  openPopover(below(from), from, list, many ? el('button', { type: 'button', class: 'button primary done', on: { click: closePopover } }, 'Done') : '');
  // As in Discord, a list with ticks is sent when it closes.
  $('popover').onclose = many ? () => {
    const same = chosen.size === before.size && [...chosen].every((value) => before.has(value));
    if (!same && chosen.size >= least) submit(options.map((option) => option.value).filter((value) => chosen.has(value)));
  } : null;
}

// ---- modals ----------------------------------------------------------------------

function openModal(modal, opened) {
  const box = $('modal');
  const problem = el('div', { class: 'composer-error', role: 'alert' });
  const inputs = modal.fields.map((field) => {
    const common = { id: `modal-${field.custom_id}`, name: field.custom_id, placeholder: field.placeholder, required: field.required, minlength: field.length[0] || undefined, maxlength: field.length[1] };
    const input = el(field.paragraph ? 'textarea' : 'input', field.paragraph ? { ...common, rows: 4 } : { ...common, type: 'text' });
    input.value = field.value;
    return [field, input];
  });
  const form = el('form', { on: { submit: async (event) => {
    event.preventDefault();
    problem.textContent = '';
    const values = Object.fromEntries(inputs.map(([field, input]) => [field.custom_id, input.value]));
    try {
      await interact({ do: 'submit', opened, values });
      box.close();
    } catch (why) {
      problem.textContent = why.message;
    }
  } } },
  el('h2', { id: 'modal-title' }, modal.title),
  el('p', { class: 'modal-hint' }, `This form is submitted to ${nameOf(state.bot)}.`),
  ...inputs.map(([field, input]) => el('div', { class: 'modal-field' }, el('label', { for: input.id }, field.label, field.required ? ' *' : ''), input)),
  problem,
  el('div', { class: 'modal-foot' }, el('button', { type: 'button', class: 'button secondary', on: { click: () => box.close() } }, 'Cancel'), el('button', { type: 'submit', class: 'button primary' }, 'Submit')));
  box.replaceChildren(form);
  box.showModal();
  inputs[0]?.[1].focus();
}

// ---- the frame -------------------------------------------------------------------

function become(id) {
  me = id;
  for (const select of [$('as'), $('as-small')]) select.value = id;
  document.documentElement.lang = person().locale;
  dismissed.clear();
  listen();
  return refresh();
}

function closeSidebar() {
  document.body.classList.remove('listing');
  $('menu').setAttribute('aria-expanded', 'false');
  $('shade').hidden = true;
}

for (const select of [$('as'), $('as-small')]) {
  select.append(...about.people.map((one) => el('option', { value: one.id }, `${one.name}, ${one.role}`)));
  select.addEventListener('change', () => become(select.value));
}
$('menu').addEventListener('click', () => {
  document.body.classList.add('listing');
  $('menu').setAttribute('aria-expanded', 'true');
  $('shade').hidden = false;
  $('channels').querySelector('a')?.focus();
});
$('shade').addEventListener('click', closeSidebar);
$('back').addEventListener('click', closeThread);
addEventListener('hashchange', () => { route(); $('thread').hidden || $('thread').querySelector('.scroll').focus?.(); });
addEventListener('keydown', (event) => { if (event.key === 'Escape') closeSidebar(); });
document.addEventListener('pointerdown', (event) => {
  if (!$('popover').hidden && !$('popover').contains(event.target) && !opener?.contains(event.target)) closePopover();
});
addEventListener('resize', closePopover);
setInterval(() => { tick(); drawTyping(); }, 5000);

await refresh();
listen();
await route();
if (!matchMedia('(max-width: 700px)').matches) panes.main.composer.focus();
