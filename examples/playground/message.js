// One message as Discord shows it: who, content, embeds, buttons, selects, files.
//
// `around` is what the page knows and can do: `me`, `bot`, `names`, `titles`, `busy`, and the
// functions `act`, `openThread`, `openMenu`, `openSelect`, `dismiss`.

import { el, line, markdown, plainText } from './markdown.js';

const EPHEMERAL = 1 << 6;
const LOADING = 1 << 7;
const STYLES = { 1: 'primary', 2: 'secondary', 3: 'success', 4: 'danger', 5: 'link' };

export const isEphemeral = (message) => (message.flags & EPHEMERAL) !== 0;
export const nameOf = (user) => user.global_name || user.username;

export function drawMessage(message, around, follows) {
  if (message.type === 21) return drawStarter(message, around);
  if (message.type === 18) return drawNotice(message, around);
  const name = nameOf(message.author);
  const at = new Date(message.timestamp);
  const clock = new Intl.DateTimeFormat(around.names.locale, { timeStyle: 'short' }).format(at);
  const classes = ['message'];
  if (follows) classes.push('follows');
  if (isEphemeral(message)) classes.push('ephemeral');
  if (message.mentions.some((user) => user.id === around.me)) classes.push('mentioned');
  return el('article', {
    class: classes.join(' '), id: `message-${message.id}`, 'aria-label': `${name}, ${clock}`,
    on: {
      contextmenu: (event) => {
        if (event.target.closest('button, a, code, pre') || String(getSelection())) return;
        event.preventDefault();
        around.openMenu(message, { x: event.clientX, y: event.clientY });
      },
    },
  },
  above(message, around),
  follows ? null : el('div', { class: `avatar hue${hue(name)}`, 'aria-hidden': 'true' }, [...name][0]?.toUpperCase() ?? '?'),
  follows ? null : el('div', { class: 'head' },
    el('span', { class: 'name' }, name),
    message.author.bot ? el('span', { class: 'tag' }, message.author.id === around.bot || !message.webhook_id ? 'APP' : 'HOOK') : null,
    el('time', { datetime: message.timestamp, title: at.toString() }, clock)),
  body(message, around),
  el('button', {
    type: 'button', class: 'more', 'aria-label': `Actions for the message of ${name}, ${clock}`, 'aria-haspopup': 'menu',
    on: { click: (event) => around.openMenu(message, below(event.currentTarget), event.currentTarget) },
  }, '⋯'));
}

export function below(node) {
  const box = node.getBoundingClientRect();
  return { x: box.left, y: box.bottom + 4, top: box.top - 4 };
}

function hue(name) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 6;
  return sum;
}

// The line above: what it answers.
function above(message, around) {
  const by = message.interaction_metadata;
  const used = around.titles[message.id];
  if (by && by.type !== 3) {
    return el('div', { class: 'above' }, el('b', {}, nameOf(by.user)), used ? ' used ' : ' used a command',
      used ? el('span', { class: 'mention' }, used) : null);
  }
  const of = message.type === 19 ? message.referenced_message : undefined;
  if (of === undefined) return null;
  if (of === null) return el('div', { class: 'above' }, 'Original message was deleted');
  const text = plainText(of.content, around.names) || of.embeds[0]?.title || of.embeds[0]?.description || 'an attachment';
  return el('div', { class: 'above' }, '↪ ', el('b', {}, nameOf(of.author)), ` ${text.slice(0, 120)}`);
}

function body(message, around) {
  const out = el('div', { class: 'body' });
  if (message.flags & LOADING) {
    out.append(el('div', { class: 'thinking' }, dots(), `${nameOf(message.author)} is thinking…`));
  }
  if (message.content) {
    const content = el('div', { class: 'content' }, markdown(message.content, around.names));
    if (message.edited_timestamp) content.append(el('span', { class: 'edited' }, ' (edited)'));
    out.append(content);
  }
  for (const embed of message.embeds) out.append(drawEmbed(embed, around));
  for (const file of message.attachments) out.append(drawFile(file));
  message.components.forEach((row, at) => out.append(drawRow(message, row, at, around)));
  if (message.reactions?.length) {
    out.append(el('div', { class: 'reactions' }, ...message.reactions.map((one) => el('span', { class: 'reaction' }, `${one.emoji.name} ${one.count}`))));
  }
  if (message.thread) out.append(drawThreadCard(message.thread, around));
  if (isEphemeral(message)) {
    out.append(el('div', { class: 'only-you' }, '👁 Only you can see this · ',
      el('button', { type: 'button', class: 'as-link', on: { click: () => around.dismiss(message.id) } }, 'Dismiss message')));
  }
  return out;
}

export function dots() {
  return el('span', { class: 'dots', 'aria-hidden': 'true' }, el('i'), el('i'), el('i'));
}

function drawStarter(message, around) {
  const of = message.referenced_message;
  if (!of) return el('div', { class: 'notice' }, 'The message this thread began with was deleted.');
  const { thread, ...whole } = of;
  const node = drawMessage({ ...whole, id: message.id }, { ...around, titles: { ...around.titles, [message.id]: around.titles[of.id] } }, false);
  node.classList.add('starter');
  return node;
}

function drawNotice(message, around) {
  return el('div', { class: 'notice' }, el('b', {}, nameOf(message.author)), ' started a thread: ',
    el('button', { type: 'button', class: 'as-link', on: { click: () => around.openThread(message.message_reference.channel_id) } }, message.content));
}

function drawThreadCard(thread, around) {
  const count = thread.message_count;
  return el('button', { type: 'button', class: 'thread-card', on: { click: () => around.openThread(thread.id) } },
    el('span', { class: 'thread-name' }, `🧵 ${thread.name}`),
    el('span', { class: 'thread-count' }, `${count} ${count === 1 ? 'message' : 'messages'} ›`));
}

function drawEmbed(embed, around) {
  const color = Number.isInteger(embed.color) ? `#${embed.color.toString(16).padStart(6, '0')}` : undefined;
  const node = el('section', { class: 'embed' });
  if (color) node.style.setProperty('--bar', color);
  if (embed.author?.name) node.append(el('div', { class: 'embed-author' }, embed.author.name));
  if (embed.title) node.append(el('div', { class: 'embed-title', role: 'heading', 'aria-level': 4 }, line(embed.title, around.names)));
  if (embed.description) node.append(el('div', { class: 'embed-text' }, markdown(embed.description, around.names)));
  if (embed.fields?.length) {
    node.append(el('div', { class: 'fields' }, ...embed.fields.map((field) => el('div', { class: field.inline ? 'field inline' : 'field' },
      el('div', { class: 'field-name' }, line(field.name, around.names)), el('div', {}, markdown(field.value, around.names))))));
  }
  const footer = [embed.footer?.text, embed.timestamp && new Date(embed.timestamp).toLocaleString(around.names.locale)].filter(Boolean).join(' • ');
  if (footer) node.append(el('div', { class: 'embed-footer' }, footer));
  return node;
}

function drawFile(file) {
  const size = file.size < 1024 ? `${file.size} B` : `${(file.size / 1024).toFixed(1)} KB`;
  return el('a', { class: 'file', href: file.url, target: '_blank', rel: 'noopener noreferrer' },
    el('span', { 'aria-hidden': 'true' }, '📄'), el('span', { class: 'file-name' }, file.filename), el('span', { class: 'file-size' }, size));
}

// ---- buttons and selects ---------------------------------------------------

function drawRow(message, row, at, around) {
  const controls = row.components ?? [];
  return el('div', { class: 'row', role: 'group', 'aria-label': `Row ${at + 1}` },
    ...controls.map((control) => (control.type === 2 ? drawButton(message, control, around) : drawSelect(message, control, around))));
}

function drawButton(message, button, around) {
  const label = [button.emoji?.name, button.label].filter(Boolean).join(' ');
  if (button.style === 5) return el('a', { class: 'button link', href: button.url, target: '_blank', rel: 'noopener noreferrer' }, label, ' ↗');
  const key = `${message.id}/${button.custom_id}`;
  return el('button', {
    type: 'button', class: `button ${STYLES[button.style] ?? 'secondary'}${around.busy.has(key) ? ' busy' : ''}`,
    disabled: button.disabled || around.busy.has(key), data: { key },
    on: { click: () => around.act({ do: 'click', message: message.id, custom_id: button.custom_id }, key) },
  }, around.busy.has(key) ? dots() : label);
}

export function optionsOf(select, around) {
  if (select.type === 3) return select.options;
  const people = around.people().map((user) => ({ label: nameOf(user), value: user.id }));
  const roles = around.roles().map((role) => ({ label: `@${role.name}`, value: role.id }));
  const channels = around.channels().map((channel) => ({ label: `#${channel.name}`, value: channel.id }));
  return { 5: people, 6: roles, 7: [...people, ...roles], 8: channels }[select.type] ?? [];
}

function drawSelect(message, select, around) {
  const chosen = optionsOf(select, around).filter((option) => option.default);
  const key = `${message.id}/${select.custom_id}`;
  const label = select.placeholder || 'Make a selection';
  const shown = chosen.length ? chosen.map((option) => option.label).join(', ') : label;
  return el('button', {
    type: 'button', class: `select${chosen.length ? '' : ' empty'}`, 'aria-haspopup': 'listbox', 'aria-expanded': 'false',
    'aria-label': chosen.length ? `${label}: ${shown}` : label, disabled: select.disabled || around.busy.has(key), data: { key },
    on: { click: (event) => around.openSelect(message, select, event.currentTarget) },
  }, el('span', { class: 'select-text' }, shown), el('span', { 'aria-hidden': 'true' }, around.busy.has(key) ? '…' : '⌄'));
}
