// Discord's Markdown as DOM nodes.
//
// Wanted: text of others never becomes markup. Every branch ends in a text node or in an element
// that is made here; nothing is parsed as HTML, and links stay text. What is not understood is
// shown as it was written. Absent: images, embedded media, clickable links.

const DEEPEST = 6;

export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'on') {
      for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    } else if (key === 'data') {
      Object.assign(node.dataset, value);
    } else if (key === 'class') {
      node.className = value;
    } else if (value === true) {
      node.setAttribute(key, '');
    } else {
      node.setAttribute(key, String(value));
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// `names` has user(id), channel(id), role(id), giving a name or nothing, and `locale`.
export function markdown(text, names) {
  const out = document.createDocumentFragment();
  let rest = text;
  while (rest) {
    const open = fence(rest, 0);
    const close = open < 0 ? -1 : fence(rest, open + 3);
    if (close < 0) {
      blocks(rest, out, names);
      break;
    }
    blocks(rest.slice(0, open), out, names);
    let code = rest.slice(open + 3, close);
    code = code.replace(/^[\w+.#-]{0,30}\n/, '').replace(/\n$/, '');
    out.append(codeBlock(code));
    rest = rest.slice(close + 3).replace(/^\n/, '');
  }
  return out;
}

// Only code spans, emphasis and names, as in a title.
export function line(text, names) {
  const out = document.createDocumentFragment();
  inline(text, out, names, 0);
  return out;
}

// As plain text, for names that screen readers say.
export function plainText(text, names) {
  return el('span', {}, markdown(text, names)).textContent;
}

function fence(text, from) {
  for (let at = text.indexOf('```', from); at >= 0; at = text.indexOf('```', at + 1)) {
    let slashes = 0;
    while (at - slashes > 0 && text[at - slashes - 1] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

function codeBlock(code) {
  const say = (button, word) => {
    button.textContent = word;
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  };
  const copy = el('button', {
    type: 'button', class: 'copy', 'aria-label': 'Copy this text',
    on: {
      click: () => navigator.clipboard.writeText(code).then(
        () => say(copy, 'Copied'), () => say(copy, 'Not allowed'),
      ),
    },
  }, 'Copy');
  return el('div', { class: 'code-block' }, el('pre', { tabindex: 0 }, el('code', {}, code)), copy);
}

function blocks(text, out, names) {
  const lines = text.split('\n');
  let paragraph = [];
  const flush = () => {
    while (paragraph.length && paragraph[0] === '') paragraph.shift();
    if (paragraph.length) {
      const p = el('div', { class: 'paragraph' });
      inline(paragraph.join('\n').replace(/\n+$/, ''), p, names, 0);
      out.append(p);
    }
    paragraph = [];
  };
  const put = (tag, properties, content) => {
    flush();
    const node = el(tag, properties);
    inline(content, node, names, 0);
    out.append(node);
  };
  for (let at = 0; at < lines.length; at += 1) {
    const now = lines[at];
    const heading = /^(#{1,3}) +(\S.*)$/.exec(now);
    const item = /^( *)(?:[-*]|(\d{1,9})\.) +(\S.*)$/.exec(now);
    if (heading) {
      put('div', { class: `heading h${heading[1].length}`, role: 'heading', 'aria-level': heading[1].length + 3 }, heading[2]);
    } else if (now.startsWith('-# ')) {
      put('div', { class: 'subtext' }, now.slice(3));
    } else if (now.startsWith('>>> ')) {
      put('blockquote', {}, [now.slice(4), ...lines.slice(at + 1)].join('\n'));
      break;
    } else if (now.startsWith('> ') || now === '>') {
      const quoted = [];
      while (at < lines.length && (lines[at].startsWith('> ') || lines[at] === '>')) {
        quoted.push(lines[at].slice(2));
        at += 1;
      }
      at -= 1;
      put('blockquote', {}, quoted.join('\n'));
    } else if (item) {
      put('div', { class: `item depth${Math.min(3, Math.floor(item[1].length / 2))}` }, item[3]);
      out.lastChild.prepend(el('span', { class: 'bullet', 'aria-hidden': 'true' }, item[2] ? `${item[2]}.` : '•'));
    } else {
      paragraph.push(now);
    }
  }
  flush();
}

const TAGS = [
  [/^<t:(-?\d{1,13})(?::([tTdDfFR]))?>/, (found, names) => stamp(Number(found[1]), found[2] ?? 'f', names.locale)],
  [/^<@!?(\d{1,20})>/, (found, names) => mention(`@${names.user(found[1]) ?? 'unknown-user'}`)],
  [/^<@&(\d{1,20})>/, (found, names) => mention(`@${names.role(found[1]) ?? 'deleted-role'}`)],
  [/^<#(\d{1,20})>/, (found, names) => mention(`#${names.channel(found[1]) ?? 'no-access'}`)],
  [/^<\/([^:<>\n]{1,100}):\d{1,20}>/, (found) => mention(`/${found[1]}`)],
  [/^<a?(:\w{2,32}:)\d{1,20}>/, (found) => document.createTextNode(found[1])],
];

const MARKS = [['**', 'strong'], ['__', 'u'], ['~~', 's'], ['||', 'spoiler'], ['*', 'em'], ['_', 'em']];

function mention(text) {
  return el('span', { class: 'mention' }, text);
}

function inline(text, out, names, depth) {
  let plain = '';
  const flush = () => {
    if (plain) out.append(plain);
    plain = '';
  };
  let at = 0;
  while (at < text.length) {
    const here = text[at];
    if (here === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) {
      plain += text[at + 1];
      at += 2;
      continue;
    }
    if (here === '`') {
      const ticks = /^`+/.exec(text.slice(at))[0];
      const close = closingTicks(text, at + ticks.length, ticks);
      if (close >= 0) {
        flush();
        let code = text.slice(at + ticks.length, close);
        if (/^ .*\S.* $/s.test(code) || /^ `|` $/.test(code)) code = code.replace(/^ | $/g, '');
        out.append(el('code', {}, code));
        at = close + ticks.length;
      } else {
        plain += ticks;
        at += ticks.length;
      }
      continue;
    }
    if (here === '<') {
      const rest = text.slice(at, at + 160);
      const tag = TAGS.map(([pattern, make]) => [pattern.exec(rest), make]).find(([found]) => found);
      if (tag) {
        flush();
        out.append(tag[1](tag[0], names));
        at += tag[0][0].length;
        continue;
      }
    }
    const mark = depth < DEEPEST && MARKS.find(([sign]) => text.startsWith(sign, at));
    if (mark) {
      const [sign, tag] = mark;
      const close = closing(text, at, sign);
      if (close > at + sign.length) {
        flush();
        const node = tag === 'spoiler' ? spoiler() : el(tag);
        inline(text.slice(at + sign.length, close), node, names, depth + 1);
        out.append(node);
        at = close + sign.length;
        continue;
      }
      plain += sign;
      at += sign.length;
      continue;
    }
    plain += here;
    at += 1;
  }
  flush();
}

function closingTicks(text, from, ticks) {
  let at = text.indexOf('`', from);
  while (at >= 0) {
    const run = /^`+/.exec(text.slice(at))[0];
    if (run.length === ticks.length) return at;
    at = text.indexOf('`', at + run.length);
  }
  return -1;
}

// Where the mark that opened at `open` closes, or -1.
function closing(text, open, sign) {
  const word = /[\p{L}\p{N}]/u;
  if (sign.length === 1) {
    if (/\s/.test(text[open + 1] ?? ' ')) return -1;
    if (sign === '_' && word.test(text[open - 1] ?? ' ')) return -1;
  }
  for (let at = open + sign.length; at < text.length; at += 1) {
    if (text[at] === '\\') {
      at += 1;
    } else if (text[at] === '`') {
      const ticks = /^`+/.exec(text.slice(at))[0];
      const close = closingTicks(text, at + ticks.length, ticks);
      at = (close < 0 ? at : close) + ticks.length - 1;
    } else if (text.startsWith(sign, at)) {
      if (sign === '*' && text[at + 1] === '*') {
        at += 1;
      } else if (sign !== '_' || !word.test(text[at + 1] ?? ' ')) {
        return at;
      }
    }
  }
  return -1;
}

function spoiler() {
  const show = () => node.classList.add('shown');
  const node = el('span', { class: 'spoiler', role: 'button', tabindex: 0, 'aria-label': 'Spoiler', on: { click: show, keydown: show } });
  return node;
}

// ---- times -----------------------------------------------------------------

const STYLES = {
  t: { timeStyle: 'short' }, T: { timeStyle: 'medium' }, d: { dateStyle: 'short' }, D: { dateStyle: 'long' },
  f: { dateStyle: 'long', timeStyle: 'short' }, F: { dateStyle: 'full', timeStyle: 'short' },
};
const SPANS = [[60, 'second', 1], [3600, 'minute', 60], [86400, 'hour', 3600], [2592000, 'day', 86400], [31536000, 'month', 2592000], [Infinity, 'year', 31536000]];

function stamp(seconds, style, locale) {
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return document.createTextNode('Invalid Date');
  const node = el('time', {
    datetime: at.toISOString(), class: 'stamp', data: { seconds, style, locale },
    title: new Intl.DateTimeFormat(locale, STYLES.F).format(at),
  });
  tell(node);
  return node;
}

function tell(node) {
  const { seconds, style, locale } = node.dataset;
  if (style !== 'R') {
    node.textContent = new Intl.DateTimeFormat(locale, STYLES[style]).format(new Date(seconds * 1000));
    return;
  }
  const distance = seconds - Date.now() / 1000;
  const [, unit, length] = SPANS.find(([below]) => Math.abs(distance) < below);
  node.textContent = new Intl.RelativeTimeFormat(locale, { numeric: 'always' }).format(Math.round(distance / length), unit);
}

// Relative times go on.
export function tick() {
  document.querySelectorAll('time.stamp[data-style="R"]').forEach(tell);
}
