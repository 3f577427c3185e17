'use strict';
// What the page knows of a run: the JSON block of experiments/report/run_facts.h with its texts put in place. One object for all scripts.
const run = {nodes: [], links: [], best: 0, path: [], version: 0, attribution: null};

// Takes in a block, or what has come since (a live page): nodes by number, everything else as a whole.
run.take = block => {
  const text = i => i === undefined ? '' : block.texts[i];
  for (const [id, raw] of block.nodes) {
    run.nodes[id] = Object.assign({}, raw, {
      id,
      move: text(raw.move),
      status: text(raw.status),
      proposer: text(raw.proposer),
      diff: raw.diff === undefined ? null : text(raw.diff),
      log: text(raw.log),
      findings: text(raw.findings),
      detailed: raw.source !== undefined || raw.diff !== undefined,
      gates: (raw.gates || []).map(([gate, answer, detail]) => ({gate: text(gate), answer: ['pass', 'fail', 'not run'][answer], detail: text(detail)})),
      facts: (raw.facts || []).map(([name, value, source]) => ({name: text(name), value, source: ['measured', 'static', 'assumed'][source]})),
    });
  }
  for (const [source, target, move] of block.links) run.links.push({source, target, move: text(move)});
  run.best = block.best;
  run.path = block.path;
  run.version = block.version;
  if (block.attribution) run.attribution = block.attribution;
  run.texts = null;
};

run.measured = node => node.speedup > 0;
run.refused = node => node.status !== 'ok' && node.status !== 'in flight' && node.status !== 'not_measured';
run.ratio = x => x > 0 ? x.toFixed(3) + 'x' : '-';
run.short = node => node.key.slice(0, 12);
// The gate that refused it; its status where no gate did.
run.refusedBy = node => {
  const gate = node.gates.find(g => g.answer === 'fail');
  return gate ? gate.gate : node.status;
};
run.reported = node => node.final > 0 ? node.final : node.speedup;

// A unified difference of several files as hunks: {file, from: first line of the old text (from 1), lines: [[' ' | '-' | '+', text], ...]}.
run.hunks = diff => {
  const hunks = [];
  let file = '', left = [0, 0];
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    const hunk = hunks.at(-1);
    if (left[0] > 0 || left[1] > 0) {
      const op = line[0] === undefined ? ' ' : line[0];
      if (op === '\\') continue;
      if (op !== '+') --left[0];
      if (op !== '-') --left[1];
      hunk.lines.push([op, line.slice(1)]);
    } else if (line.startsWith('--- ')) {
      file = line.slice(4).trim();
    } else if (line.startsWith('@@')) {
      const [, from, old, to, now] = line.match(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/);
      left = [old === undefined ? 1 : +old, now === undefined ? 1 : +now];
      hunks.push({file, from: +from, to: +to, old: left[0], lines: []});
    }
  }
  return hunks;
};

// `text` after the hunks of `file`.
run.patched = (text, hunks, file) => {
  const before = text.split('\n'), out = [];
  let at = 0;
  for (const hunk of hunks.filter(h => h.file === file)) {
    const first = hunk.old === 0 ? hunk.from : hunk.from - 1;
    while (at < first) out.push(before[at++]);
    for (const [op, line] of hunk.lines) {
      if (op !== '-') out.push(line);
      if (op !== '+') ++at;
    }
  }
  return out.concat(before.slice(at)).join('\n');
};

run.pathTo = node => {
  const path = [node];
  while (path[0].parent >= 0) path.unshift(run.nodes[path[0].parent]);
  return path;
};

// {source, terms} of a node; null where the page does not hold them.
run.variant = node => {
  const path = run.pathTo(node);
  if (!path.every(step => step.detailed)) return null;
  let {source, terms} = path[0];
  for (const step of path.slice(1)) {
    const hunks = run.hunks(step.diff);
    source = run.patched(source, hunks, 'source.cu');
    terms = run.patched(terms, hunks, 'terms');
  }
  return {source, terms};
};
