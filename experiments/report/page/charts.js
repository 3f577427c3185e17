'use strict';
// Charts, drawn with D3 3.5 into the elements of the page that are named for them; those without data say so.
const charts = {};

charts.frame = (id, title, height = 230) => {
  const host = d3.select('#' + id);
  host.selectAll('*').remove();
  host.append('figcaption').text(title);
  const width = host.node().clientWidth || 360;
  const margin = {left: 52, right: 14, top: 22, bottom: 34};
  const svg = host.append('svg').attr({width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title});
  const body = svg.append('g').attr('transform', `translate(${margin.left},${margin.top})`);
  return {host, svg, body, width: width - margin.left - margin.right, height: height - margin.top - margin.bottom};
};

charts.nothing = (id, title, why) => {
  const host = d3.select('#' + id);
  host.selectAll('*').remove();
  host.append('figcaption').text(title);
  host.append('p').attr('class', 'soft').text(why);
};

// 1, 2 and 5 times the powers of ten within a logarithmic scale, only the powers where these are many.
charts.logTicks = scale => {
  const [low, high] = scale.domain(), ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power)
    for (const digit of high / low > 60 ? [1] : [1, 2, 5]) ticks.push(Number(`${digit}e${power}`));
  return ticks.filter(t => t >= low && t <= high);
};

charts.axes = (f, x, y, xLabel, yLabel, yUnit = '') => {
  const axis = (scale, side) => {
    const made = d3.svg.axis().scale(scale).orient(side).ticks(5).outerTickSize(0);
    return scale.base ? made.tickValues(charts.logTicks(scale)).tickFormat(String) : made;
  };
  const xAxis = axis(x, 'bottom');
  const yAxis = axis(y, 'left').innerTickSize(-f.width).tickFormat(v => +v.toPrecision(6) + yUnit);
  f.body.append('g').attr('class', 'axis').attr('transform', `translate(0,${f.height})`).call(xAxis);
  f.body.append('g').attr('class', 'axis grid').call(yAxis);
  f.body.append('text').attr({class: 'label', x: f.width, y: f.height + 31, 'text-anchor': 'end'}).text(xLabel);
  f.body.append('text').attr({class: 'label', x: -44, y: -12}).text(yLabel);
};

// Best so far over `key` (build or seconds), with every measured variant as a point, at most 1500 of them.
charts.best = (id, title, key, label) => {
  const done = run.nodes.filter(n => n && n.build > 0).sort((a, b) => a.build - b.build);
  if (done.length === 0) return charts.nothing(id, title, 'Nothing was evaluated yet.');
  const f = charts.frame(id, title);
  const steps = [{at: 0, best: 1, node: run.nodes[0]}];
  for (const node of done) {
    if (node.speedup > steps.at(-1).best) steps.push({at: node[key], best: node.speedup, node});
  }
  const last = d3.max(done, n => n[key]);
  const line = steps.concat([{at: last, best: steps.at(-1).best}]);
  const measured = done.filter(run.measured);
  const shown = measured.filter((n, i) => i % Math.ceil(measured.length / 1500) === 0);
  const high = Math.max(steps.at(-1).best, 1.02);
  const slow = d3.quantile(measured.map(n => n.speedup).sort(d3.ascending), 0.05) || 1;
  const low = Math.max(Math.min(1, slow), Math.min(0.5, 1 / high));
  const x = d3.scale.linear().domain([0, last || 1]).range([0, f.width]);
  const y = (high / low > 4 ? d3.scale.log() : d3.scale.linear()).domain([low / 1.02, high * 1.03]).range([f.height, 0]);
  charts.axes(f, x, y, label, 'speed-up', 'x');
  f.body.selectAll('circle.all').data(shown.filter(n => n.speedup >= low / 1.02)).enter().append('circle')
    .attr({class: 'all', r: 1.6, cx: n => x(n[key]), cy: n => y(n.speedup)});
  f.body.append('path').attr('class', 'best').attr('d', d3.svg.line().x(s => x(s.at)).y(s => y(s.best)).interpolate('step-after')(line));
  f.body.selectAll('circle.step').data(steps.slice(1)).enter().append('circle')
    .attr({class: 'step', r: 4, cx: s => x(s.at), cy: s => y(s.best)})
    .on('click', s => page.choose(s.node.id)).append('title').text(s => `${run.ratio(s.best)} ${s.node.move}`);
};

// The roofline, relative to the device: over the ridge's intensity, as a share of the compute peak. From the declared work at measured peaks, which
// bounds the time by each resource: intensity / ridge = t(compute) / t(memory), and attained / peak = t(compute) / time.
charts.roofline = id => {
  const title = 'Roofline';
  const points = [['baseline', run.nodes[0]], ['best', run.nodes[run.best]]].filter(([, n]) => n && n.ms > 0 && n.bounds && Object.keys(n.bounds).length);
  if (points.length === 0)
    return charts.nothing(id, title, 'The run has no time bounds: they need a GPU whose peaks were measured, and a spec that declares its work.');
  const of = node => {
    const largest = names => d3.max(names, name => node.bounds[name] || 0);
    return {memory: node.bounds.dram || node.bounds.l2 || 0, compute: largest(['tensor', 'fp32', 'fp64', 'int32', 'sfu']), ns: node.ms * 1e6};
  };
  const all = points.map(([name, node]) => Object.assign({name, node}, of(node)));
  if (all.some(p => !(p.compute > 0) || !(p.memory > 0))) return charts.shares(id, 'Share of the bound', all);
  const f = charts.frame(id, title);
  const xs = all.map(p => p.compute / p.memory), ys = all.map(p => p.compute / p.ns);
  const x = d3.scale.log().domain([Math.min(1 / 32, d3.min(xs) / 2), Math.max(32, d3.max(xs) * 2)]).range([0, f.width]);
  const y = d3.scale.log().domain([Math.min(0.01, d3.min(ys) / 2), 1.6]).range([f.height, 0]);
  charts.axes(f, x, y, 'intensity / ridge', 'share of the compute peak');
  f.body.append('path').attr('class', 'roof').attr('d', d3.svg.line().x(p => x(p[0])).y(p => y(p[1]))(
    [[y.domain()[0], y.domain()[0]], [1, 1], [x.domain()[1], 1]].map(([a, b]) => [Math.max(a, x.domain()[0]), b])));
  const dots = f.body.selectAll('g.point').data(all).enter().append('g').attr('class', p => 'point ' + p.name)
    .attr('transform', p => `translate(${x(p.compute / p.memory)},${y(p.compute / p.ns)})`).on('click', p => page.choose(p.node.id));
  dots.append('circle').attr('r', 5);
  const left = p => x(p.compute / p.memory) > f.width * 0.6;
  dots.append('text').attr({x: p => (left(p) ? -9 : 9), y: 4, 'text-anchor': p => (left(p) ? 'end' : 'start')}).text(p => `${p.name} ${(100 * Math.max(p.compute, p.memory) / p.ns).toFixed(1)} %`);
};

// Where there is no pair of bounds: how much of the largest is reached.
charts.shares = (id, title, all) => {
  const f = charts.frame(id, title, 120);
  const x = d3.scale.linear().domain([0, 1]).range([0, f.width]);
  f.body.append('g').attr('class', 'axis').attr('transform', `translate(0,${f.height})`)
    .call(d3.svg.axis().scale(x).orient('bottom').ticks(5, '%').outerTickSize(0));
  all.forEach((p, i) => {
    const share = Math.max(p.compute, p.memory) / p.ns;
    f.body.append('rect').attr({class: 'bar', x: 0, y: i * 34 + 4, height: 22, width: Math.max(1, x(Math.min(share, 1)))});
    f.body.append('text').attr({x: Math.min(x(Math.min(share, 1)) + 6, f.width - 110), y: i * 34 + 19}).text(`${p.name} ${(100 * share).toFixed(1)} %`);
  });
};

// What each move is worth: speed-up of the best over itself without the move, with its interval.
charts.worth = id => {
  if (d3.select('#' + id).empty() || !run.attribution) return;
  const moves = run.attribution.moves.filter(m => m.without.speedup > 0);
  if (moves.length === 0) return charts.nothing(id, 'What each move is worth', 'No move has a speed-up of its own.');
  const row = 26, label = 300;
  const f = charts.frame(id, 'Speed-up of the best kernel over itself without the move, 95 % interval', moves.length * row + 50);
  const x = d3.scale.linear().domain([Math.min(1, d3.min(moves, m => m.without.low)), Math.max(1.01, d3.max(moves, m => m.without.high))]).nice()
    .range([label, f.width]);
  f.body.append('g').attr('class', 'axis').attr('transform', `translate(0,${moves.length * row})`)
    .call(d3.svg.axis().scale(x).orient('bottom').ticks(5).tickFormat(v => v + 'x').outerTickSize(0));
  f.body.append('line').attr({class: 'zero', x1: x(1), x2: x(1), y1: 0, y2: moves.length * row});
  moves.forEach((m, i) => {
    const y = i * row + row / 2;
    f.body.append('text').attr({x: -44, y: y + 4}).text(m.move.length > 52 ? m.move.slice(0, 51) + '…' : m.move).append('title').text(m.move);
    f.body.append('rect').attr({class: 'bar ' + m.verdict, x: Math.min(x(1), x(m.without.speedup)), y: y - 7, height: 14, width: Math.abs(x(m.without.speedup) - x(1))});
    f.body.append('line').attr({class: 'whisker', x1: x(m.without.low), x2: x(m.without.high), y1: y, y2: y});
  });
};

charts.all = () => {
  charts.best('best_over_builds', 'Best so far, by build', 'build', 'builds');
  charts.best('best_over_seconds', 'Best so far, by time', 'seconds', 'seconds');
  charts.roofline('roofline');
  charts.worth('worth');
};
