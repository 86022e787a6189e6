// The line at the bottom: plain messages, replies, and slash commands with their options.
//
// A command is completed from what the bot registered; once it is chosen its options are fields
// with names. What was typed is kept until the stand-in has taken it.

import { el } from './markdown.js';
import { nameOf } from './message.js';

// `around`: commands(), localized(thing, key), people(), channels(), roles(), send(act), upload(file).
export class Composer {
  constructor(host, channel, around) {
    this.channel = channel;
    this.around = around;
    this.command = null;
    this.replyTo = null;
    this.files = [];
    this.matches = [];
    this.chosen = 0;
    const id = `composer-${channel}`;
    this.error = el('div', { class: 'composer-error', role: 'alert' });
    this.reply = el('div', { class: 'reply-bar' });
    this.tray = el('div', { class: 'tray' });
    this.panel = el('div', { class: 'command' });
    this.list = el('ul', { class: 'suggestions', role: 'listbox', id: `${id}-list`, 'aria-label': 'Suggestions', hidden: true });
    this.text = el('textarea', {
      rows: 1, class: 'text', maxlength: 2000, placeholder: `Message ${around.title}, or type /`, 'aria-label': `Message ${around.title}`,
      role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': `${id}-list`, enterkeyhint: 'send',
      on: { input: () => this.typed(), keydown: (event) => this.key(event), blur: () => setTimeout(() => this.hide(), 150) },
    });
    this.file = el('input', { type: 'file', class: 'unseen', id: `${id}-file`, 'aria-label': 'Attach files', multiple: true, on: { change: () => this.attach() } });
    this.sendButton = el('button', { type: 'submit', class: 'send', 'aria-label': 'Send' }, '➤');
    this.form = el('form', { class: 'composer', 'aria-label': `Write in ${around.title}`, on: { submit: (event) => { event.preventDefault(); this.submit(); } } },
      this.error, this.list, this.reply, this.tray, this.panel,
      el('div', { class: 'line' }, el('label', { class: 'attach', for: `${id}-file`, title: 'Attach files' }, '+'), this.file, this.text, this.sendButton));
    host.replaceChildren(this.form);
    this.plain = this.form.querySelector('.line');
  }

  focus() {
    (this.panel.querySelector('textarea, input, select') ?? this.text).focus();
  }

  say(why) {
    this.error.textContent = why;
  }

  setReply(message) {
    this.replyTo = message;
    this.reply.replaceChildren();
    if (message) {
      this.reply.append(el('span', {}, 'Replying to ', el('b', {}, nameOf(message.author))),
        el('button', { type: 'button', class: 'as-link', 'aria-label': 'Do not reply', on: { click: () => this.setReply(null) } }, '✕'));
      this.text.focus();
    }
  }

  // ---- completion of commands and names --------------------------------------

  typed() {
    this.say('');
    this.grow(this.text);
    const text = this.text.value;
    const at = /(?:^|\s)@([\p{L}\p{N}_-]*)$/u.exec(text.slice(0, this.text.selectionStart));
    if (text.startsWith('/')) {
      const word = text.slice(1).toLowerCase();
      const exact = this.around.commands().find((one) => word.startsWith(`${one.path} `));
      if (exact) {
        this.choose(exact, text.slice(exact.path.length + 2));
        return;
      }
      this.suggest(this.around.commands().filter((one) => one.path.startsWith(word)).map((one) => ({
        label: `/${one.path}`, about: this.around.localized(one, 'description'), pick: () => this.choose(one, ''),
      })));
    } else if (at) {
      this.suggest(this.around.people().filter((user) => nameOf(user).toLowerCase().startsWith(at[1].toLowerCase())).map((user) => ({
        label: `@${nameOf(user)}`, about: user.bot ? 'the bot' : '', pick: () => this.insertName(at[1], user),
      })));
    } else {
      this.hide();
    }
  }

  insertName(part, user) {
    const end = this.text.selectionStart;
    const before = this.text.value.slice(0, end - part.length);
    this.text.value = `${before}${nameOf(user)} ${this.text.value.slice(end)}`;
    this.text.selectionStart = before.length + nameOf(user).length + 1;
    this.text.selectionEnd = this.text.selectionStart;
    this.hide();
    this.text.focus();
  }

  suggest(matches, owner = this.text) {
    this.matches = matches.slice(0, 25);
    this.owner = owner;
    this.chosen = 0;
    if (!this.matches.length) {
      this.hide();
      return;
    }
    this.list.replaceChildren(...this.matches.map((match, at) => el('li', {
      role: 'option', id: `${this.list.id}-${at}`, 'aria-selected': at === 0,
      on: { mousedown: (event) => { event.preventDefault(); match.pick(); } },
    }, el('b', {}, match.label), match.about ? el('span', {}, match.about) : null)));
    this.list.hidden = false;
    owner.setAttribute('aria-expanded', 'true');
    this.mark(0);
  }

  mark(at) {
    this.chosen = (at + this.matches.length) % this.matches.length;
    [...this.list.children].forEach((item, index) => item.setAttribute('aria-selected', String(index === this.chosen)));
    this.list.children[this.chosen].scrollIntoView({ block: 'nearest' });
    this.owner.setAttribute('aria-activedescendant', this.list.children[this.chosen].id);
  }

  hide() {
    this.list.hidden = true;
    this.matches = [];
    this.owner?.setAttribute('aria-expanded', 'false');
    this.owner?.removeAttribute('aria-activedescendant');
  }

  // True where the key was meant for the list of suggestions.
  listKey(event) {
    if (this.list.hidden || event.isComposing) return false;
    if (event.key === 'ArrowDown') this.mark(this.chosen + 1);
    else if (event.key === 'ArrowUp') this.mark(this.chosen - 1);
    else if (event.key === 'Enter' || event.key === 'Tab') this.matches[this.chosen].pick();
    else if (event.key === 'Escape') this.hide();
    else return false;
    event.preventDefault();
    return true;
  }

  key(event) {
    if (this.listKey(event)) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.submit();
    } else if (event.key === 'Escape' && this.replyTo) {
      this.setReply(null);
    }
  }

  grow(area) {
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight + area.offsetHeight - area.clientHeight, 200)}px`;
  }

  // ---- a command and its options ---------------------------------------------

  choose(command, rest) {
    this.command = command;
    this.hide();
    this.say('');
    this.text.value = '';
    this.plain.hidden = true;
    this.fields = command.options.map((option) => this.field(option));
    this.panel.replaceChildren(
      el('div', { class: 'command-head' }, el('b', {}, `/${command.path}`), el('span', {}, this.around.localized(command, 'description')),
        el('button', { type: 'button', class: 'as-link', 'aria-label': 'Leave the command', on: { click: () => this.leave() } }, '✕')),
      el('div', { class: 'options' }, ...this.fields.map((field) => field.node)),
      el('div', { class: 'command-foot' }, el('span', {}, this.fields.length ? 'Enter sends, Shift+Enter is a new line, Esc leaves.' : ''),
        el('button', { type: 'submit', class: 'button primary' }, `Send /${command.path}`)));
    this.fill(rest);
    const first = this.panel.querySelector('textarea, input, select') ?? this.panel.querySelector('[type=submit]');
    first.focus();
  }

  // `report: ... service: ...`, or the first option alone.
  fill(rest) {
    const text = rest.trimStart();
    if (!text || !this.fields.length) return;
    const names = this.fields.map((field) => field.option.name);
    const parts = text.split(new RegExp(`(?:^|\\s)(${names.join('|')}):\\s*`));
    if (parts.length === 1) {
      this.fields[0].set(text);
    } else {
      for (let at = 1; at < parts.length; at += 2) this.fields.find((field) => field.option.name === parts[at]).set(parts[at + 1]);
    }
  }

  leave() {
    this.command = null;
    this.say('');
    this.panel.replaceChildren();
    this.plain.hidden = false;
    this.text.focus();
  }

  field(option) {
    const id = `option-${this.channel}-${option.name}`;
    const about = this.around.localized(option, 'description');
    const common = { id, name: option.name, class: 'option-value', 'aria-describedby': `${id}-about`, required: option.required ?? false };
    const pick = (options) => el('select', common, el('option', { value: '' }, option.required ? 'Choose…' : '—'),
      ...options.map(([value, label]) => el('option', { value }, label)));
    let control;
    let value = () => control.value || undefined;
    let completed = null;
    if (option.choices?.length) {
      control = pick(option.choices.map((choice, at) => [at, this.around.localized(choice, 'name')]));
      value = () => (control.value === '' ? undefined : option.choices[Number(control.value)].value);
    } else if (option.type === 5) {
      control = pick([['true', 'True'], ['false', 'False']]);
      value = () => (control.value === '' ? undefined : control.value === 'true');
    } else if (option.type === 6 || option.type === 9) {
      control = pick(this.around.people().map((user) => [user.id, nameOf(user)]));
    } else if (option.type === 7) {
      control = pick(this.around.channels().map((channel) => [channel.id, `#${channel.name}`]));
    } else if (option.type === 8) {
      control = pick(this.around.roles().map((role) => [role.id, `@${role.name}`]));
    } else if (option.type === 11) {
      control = el('input', { ...common, type: 'file' });
      value = async () => (control.files[0] ? this.around.upload(control.files[0]) : undefined);
    } else if ((option.type === 4 || option.type === 10) && !option.autocomplete) {
      control = el('input', { ...common, type: 'number', min: option.min_value, max: option.max_value, step: option.type === 4 ? 1 : 'any' });
      value = () => (control.value === '' ? undefined : Number(control.value));
    } else if (option.autocomplete) {
      control = el('input', { ...common, type: 'text', autocomplete: 'off', role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': this.list.id });
      const ask = () => this.complete(option, control, (found) => { completed = found; });
      control.addEventListener('input', () => { completed = null; ask(); });
      control.addEventListener('focus', ask);
      control.addEventListener('blur', () => setTimeout(() => { if (this.owner === control) this.hide(); }, 150));
      value = () => {
        if (completed) return completed.value;
        if (!control.value) return undefined;
        return option.type === 3 ? control.value : Number(control.value);
      };
    } else {
      control = el('textarea', { ...common, rows: 1, maxlength: option.max_length ?? 6000, enterkeyhint: 'send', on: { input: () => this.grow(control) } });
    }
    control.addEventListener('keydown', (event) => {
      if (this.owner === control && this.listKey(event)) return;
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && control.type !== 'file' && control.tagName !== 'SELECT') {
        event.preventDefault();
        this.submit();
      } else if (event.key === 'Escape' || (event.key === 'Backspace' && !control.value && control === this.panel.querySelector('.option-value'))) {
        event.preventDefault();
        this.leave();
      }
    });
    const node = el('div', { class: `option type${option.type}${control.tagName === 'TEXTAREA' ? ' wide' : ''}` },
      el('label', { for: id }, this.around.localized(option, 'name'), option.required ? ' *' : ''), control, el('small', { id: `${id}-about` }, about));
    const set = (text) => { control.value = text.trim(); if (control.tagName === 'TEXTAREA') setTimeout(() => this.grow(control)); };
    return { option, node, control, value, set };
  }

  // Completions come from the bot itself; only the newest answer counts.
  complete(option, control, pick) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(async () => {
      this.asked = (this.asked ?? 0) + 1;
      const turn = this.asked;
      const options = {};
      for (const field of this.fields) {
        if (field.option.type !== 11) {
          const given = await field.value();
          if (given !== undefined) options[field.option.name] = given;
        }
      }
      options[option.name] = control.value;
      let answer;
      try {
        answer = await this.around.send({ do: 'complete', channel: this.channel, command: this.command.path, focused: option.name, options });
      } catch {
        return;
      }
      if (turn !== this.asked || document.activeElement !== control || answer.answer !== 'choices') return;
      this.suggest(answer.choices.map((choice) => ({
        label: choice.name, about: '', pick: () => { control.value = choice.name; pick(choice); this.hide(); },
      })), control);
    }, 120);
  }

  // ---- files -------------------------------------------------------------------

  attach() {
    this.files.push(...this.file.files);
    this.file.value = '';
    this.drawTray();
    this.text.focus();
  }

  drawTray() {
    this.tray.replaceChildren(...this.files.map((file) => el('span', { class: 'tray-file' }, `📄 ${file.name} `,
      el('button', { type: 'button', class: 'as-link', 'aria-label': `Remove ${file.name}`, on: { click: () => { this.files = this.files.filter((one) => one !== file); this.drawTray(); } } }, '✕'))));
  }

  // ---- sending -------------------------------------------------------------------

  async submit() {
    if (this.sending) return;
    this.sending = true;
    this.form.classList.add('sending');
    try {
      if (this.command) await this.sendCommand();
      else await this.sendText();
    } catch (problem) {
      this.say(problem.message);
    } finally {
      this.sending = false;
      this.form.classList.remove('sending');
    }
  }

  async sendCommand() {
    const command = this.command;
    const options = {};
    for (const field of this.fields) {
      const value = await field.value();
      if (value !== undefined) options[field.option.name] = value;
      else if (field.option.required) {
        field.control.focus();
        throw new Error(`${field.option.name} must be filled in.`);
      }
    }
    await this.around.command({ do: 'slash', channel: this.channel, command: command.path, options }, () => {
      if (this.command === command) this.leave();
    });
  }

  async sendText() {
    let text = this.text.value.trim();
    if (text.startsWith('/')) {
      const command = this.around.commands().find((one) => one.path === text.slice(1).toLowerCase());
      if (!command) throw new Error(`There is no command ${text.split(' ')[0]}.`);
      this.choose(command, '');
      return;
    }
    if (!text && !this.files.length) return;
    for (const user of this.around.people()) text = text.replaceAll(`@${nameOf(user)}`, `<@${user.id}>`);
    const files = [];
    for (const file of this.files) files.push(await this.around.upload(file));
    await this.around.send({ do: 'say', channel: this.channel, text, reply_to: this.replyTo?.id, files });
    this.text.value = '';
    this.files = [];
    this.drawTray();
    this.setReply(null);
    this.grow(this.text);
  }
}
