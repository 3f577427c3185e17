'use strict';
// One variant: what it is, and in tabs its difference to its parent, its source, its verdict, its diagnosis, its machine code.
const panel = {tab: 'difference'};

panel.text = (host, tag, text, kind) => host.append(tag).attr('class', kind || null).text(text);

// Old and new text side by side: rows of {left, right}, each [line number, text, changed] or null; null for a gap between hunks.
panel.sides = hunks => {
  const rows = [];
  for (const hunk of hunks) {
    rows.push({gap: hunk.file});
    let [from, to] = [hunk.from, hunk.to], removed = [], added = [];
    const flush = () => {
      for (let i = 0; i < Math.max(removed.length, added.length); ++i) rows.push({left: removed[i] || null, right: added[i] || null});
      removed = [], added = [];
    };
    for (const [op, line] of hunk.lines) {
      if (op === '-') removed.push([from++, line, true]);
      else if (op === '+') added.push([to++, line, true]);
      else {
        flush();
        rows.push({left: [from++, line, false], right: [to++, line, false]});
      }
    }
    flush();
  }
  return rows;
};

panel.difference = (host, node) => {
  if (node.parent < 0) return panel.text(host, 'p', 'The baseline has no parent.', 'soft');
  if (node.diff === null) return panel.text(host, 'p', 'The page does not hold the sources of so many variants; warpath inspect shows this one.', 'soft');
  if (node.diff === '') return panel.text(host, 'p', 'It equals its parent.', 'soft');
  const table = host.append('table').attr('class', 'sides');
  table.append('colgroup').selectAll('col').data(['2.8rem', null, '2.8rem', null]).enter().append('col').style('width', w => w);
  const head = table.append('tr');
  head.append('th').attr('colspan', 2).text('parent ' + run.short(run.nodes[node.parent]));
  head.append('th').attr('colspan', 2).text('this ' + run.short(node));
  for (const row of panel.sides(run.hunks(node.diff))) {
    const tr = table.append('tr');
    if (row.gap) {
      tr.append('td').attr({colspan: 4, class: 'gap'}).text(row.gap);
      continue;
    }
    for (const [side, kind] of [[row.left, 'removed'], [row.right, 'added']]) {
      tr.append('td').attr('class', 'number').text(side ? side[0] : '');
      tr.append('td').attr('class', 'code ' + (side === null ? 'absent' : side[2] ? kind : '')).text(side ? side[1] : '');
    }
  }
};

panel.source = (host, node) => {
  const variant = run.variant(node);
  if (!variant) return panel.text(host, 'p', 'The page does not hold the sources of so many variants; warpath inspect shows this one.', 'soft');
  panel.text(host, 'pre', variant.terms, 'terms');
  panel.text(host, 'pre', variant.source, 'source');
};

panel.verdict = (host, node) => {
  if (node.gates.length === 0) panel.text(host, 'p', node.detailed ? 'No gate judged it.' : 'The page does not hold the verdicts of so many variants.', 'soft');
  const order = {fail: 0, pass: 1, 'not run': 2};
  const table = host.append('table');
  for (const gate of node.gates.slice().sort((a, b) => order[a.answer] - order[b.answer])) {
    const row = table.append('tr');
    row.append('td').attr('class', gate.answer.replace(' ', '_')).text(gate.answer);
    row.append('td').text(gate.gate);
    row.append('td').text(gate.detail);
  }
  if (node.log) panel.text(host, 'pre', node.log);
};

panel.diagnosis = (host, node) => {
  if (!node.bounds) return panel.text(host, 'p', 'There is no diagnosis.', 'soft');
  if (node.findings) {
    const list = host.append('ul');
    for (const line of node.findings.split('\n').filter(l => l)) list.append('li').text(line);
  }
  const table = host.append('table');
  for (const name of Object.keys(node.bounds)) {
    const row = table.append('tr');
    row.append('td').text('time bound by ' + name);
    row.append('td').text((node.bounds[name] * 1e-6).toPrecision(4) + ' ms' + (node.ms > 0 ? `, ${(node.bounds[name] * 1e-4 / node.ms).toFixed(1)} % of the time` : ''));
    row.append('td');
  }
  for (const fact of node.facts) {
    const row = table.append('tr');
    row.append('td').text(fact.name);
    row.append('td').text(+fact.value.toPrecision(5));
    row.append('td').attr('class', 'soft').text(fact.source);
  }
};

panel.evidence = node => run.attribution && run.attribution.moves.find(m => m.child === node.key && m.code);
panel.code = (host, node) => {
  const {code} = panel.evidence(node);
  panel.text(host, 'p', `${code.tool} for ${code.arch}: opcodes whose number the move into this variant changed.`, 'soft');
  const table = host.append('table');
  const head = table.append('tr');
  for (const title of ['opcode', 'before', 'after']) head.append('th').text(title);
  for (const [opcode, before, after] of code.opcodes) {
    const row = table.append('tr');
    row.append('td').append('code').text(opcode);
    row.append('td').text(before);
    row.append('td').attr('class', after > before ? 'more' : 'fewer').text(after);
  }
};

panel.show = node => {
  const host = d3.select('#node');
  host.selectAll('*').remove();
  if (!node) return panel.text(host, 'p', 'A click on a variant of the graph shows its source, its difference to its parent, its verdict and its diagnosis.', 'soft');
  const head = host.append('div').attr('class', 'node_head');
  panel.text(head, 'strong', run.measured(node) ? run.ratio(node.speedup) : node.status);
  if (node.final !== undefined) panel.text(head, 'span', node.final > 0 ? `at the end ${run.ratio(node.final)}` : 'refused at the end', node.final > 0 ? 'good' : 'bad');
  if (run.refused(node)) panel.text(head, 'span', 'refused by ' + run.refusedBy(node), 'bad');
  if (node.ms > 0) panel.text(head, 'span', node.ms.toPrecision(5) + ' ms');
  panel.text(head, 'code', run.short(node)).attr('title', node.key);
  const path = host.append('p').attr('class', 'steps');
  for (const step of run.pathTo(node)) {
    path.append('a').attr('href', '#node=' + step.key).text(step.move).on('click', () => {
      d3.event.preventDefault();
      page.choose(step.id, true);
    });
    if (step !== node) path.append('span').text(' › ');
  }
  const soft = [];
  if (node.build > 0) soft.push(`build ${node.build}, after ${node.seconds.toFixed(1)} s`);
  if (node.proposer) soft.push('proposed by ' + node.proposer);
  if (node.spent) soft.push(`compiled in ${node.spent[0].toFixed(2)} s, run in ${node.spent[1].toFixed(2)} s`);
  panel.text(host, 'p', soft.join('; '), 'soft');
  const tabs = ['difference', 'source', 'verdict', 'diagnosis'].concat(panel.evidence(node) ? ['code'] : []);
  const names = {difference: 'Difference to its parent', source: 'Source', verdict: 'Verdict', diagnosis: 'Diagnosis', code: 'Machine code'};
  const chosen = tabs.includes(panel.tab) ? panel.tab : 'difference';
  const tab = node.parent < 0 && chosen === 'difference' ? 'source' : chosen;
  host.append('div').attr('class', 'tabs').selectAll('button').data(tabs).enter().append('button')
    .attr({type: 'button', id: t => 'tab_' + t}).classed('chosen', t => t === tab).text(t => names[t])
    .on('click', t => {
      panel.tab = t;
      panel.show(node);
    });
  panel[tab](host.append('div').attr('class', 'tab'), node);
};
