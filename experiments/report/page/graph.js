'use strict';
// The search graph on a canvas: a layer for each number of moves from the baseline, laid out as the tree of how variants were found (D3's tidy tree,
// Buchheim, Jünger and Leipert 2002). Variants that lead nowhere stand as a block below their parent, so that wide layers stay readable.
const graph = {view: null, chosen: -1, hits: new Set(), all: false};
graph.kPitch = 13;
graph.kLayer = 46;
graph.kSingle = 12; // of larger blocks only the corners are joined to their parent

graph.tree = rows => {
  const children = run.nodes.map(() => []);
  for (const node of run.nodes) if (node && node.parent >= 0) children[node.parent].push(node.id);
  const columns = n => Math.ceil(n / Math.max(1, Math.min(rows, Math.round(Math.sqrt(n)) || 1)));
  const made = run.nodes.map(node => node && {id: node.id, width: 1, block: null, children: []});
  for (const node of made) {
    if (!node) continue;
    const leaves = children[node.id].filter(c => children[c].length === 0);
    node.children = children[node.id].filter(c => children[c].length > 0).map(c => made[c]);
    if (leaves.length) node.children.push({id: -1, width: columns(leaves.length), block: leaves, children: []});
  }
  return made[0];
};

// Places: x, y of each node, at most `rows` rows a block.
graph.place = rows => {
  const placed = d3.layout.tree().nodeSize([1, 1]).separation((a, b) => (a.width + b.width) / 2 + 0.35)(graph.tree(rows));
  const layers = [];
  for (const t of placed) layers[t.depth] = Math.max(layers[t.depth] || 1, t.block ? Math.ceil(t.block.length / t.width) : 1);
  const tops = [0];
  layers.forEach((n, d) => tops.push(tops[d] + n * graph.kPitch + graph.kLayer));
  const x = [], y = [], edges = [];
  for (const t of placed) {
    if (!t.block) {
      x[t.id] = t.x * graph.kPitch;
      y[t.id] = tops[t.depth];
      continue;
    }
    t.block.forEach((id, i) => {
      x[id] = (t.x + (i % t.width) - (t.width - 1) / 2) * graph.kPitch;
      y[id] = tops[t.depth] + Math.floor(i / t.width) * graph.kPitch;
    });
    edges.push(...(t.block.length <= graph.kSingle ? t.block : [t.block[0], t.block[t.width - 1]]));
  }
  edges.push(...placed.filter(t => !t.block && t.id > 0).map(t => t.id));
  const [left, right] = d3.extent(x.filter(v => v !== undefined));
  return {x, y, edges, left, right, bottom: tops[tops.length - 1] - graph.kLayer, tops};
};

graph.layout = () => {
  for (const rows of [1, 2, 3, 5, 8, 12, 20, 32, 64]) {
    graph.at = graph.place(rows);
    if (graph.at.right - graph.at.left <= 3 * Math.max(graph.at.bottom, 200)) break;
  }
  graph.index = d3.geom.quadtree().x(n => graph.at.x[n.id]).y(n => graph.at.y[n.id])(run.nodes.filter(n => n));
};

graph.colour = node => {
  if (node.status === 'in flight') return '#d9b13b';
  if (!run.measured(node)) return '#cf9c96';
  const best = Math.max(Math.log(run.nodes[run.best].speedup), 0.02), t = Math.log(node.speedup) / best;
  return t <= 0 ? '#c3ccd6' : graph.shade(Math.min(t, 1));
};
graph.shade = d3.interpolateRgb('#c9d9ea', '#174f8f');

graph.draw = () => {
  const {canvas, zoom} = graph;
  const context = canvas.getContext('2d'), pixels = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * pixels)) canvas.width = Math.round(width * pixels);
  if (canvas.height !== Math.round(height * pixels)) canvas.height = Math.round(height * pixels);
  const k = zoom.scale(), [left, top] = zoom.translate();
  const x = id => graph.at.x[id] * k + left, y = id => graph.at.y[id] * k + top;
  context.setTransform(pixels, 0, 0, pixels, 0, 0);
  context.clearRect(0, 0, width, height);
  graph.lines(context, graph.at.edges.map(id => [run.nodes[id].parent, id]), x, y, '#d3dae2', 1);
  if (graph.all) graph.lines(context, run.links.map(l => [l.source, l.target]), x, y, 'rgba(124,92,160,.35)', 1);
  graph.lines(context, run.path.slice(1).map((id, i) => [run.path[i], id]), x, y, '#c98a12', 2.5);
  const chosen = run.nodes[graph.chosen];
  if (chosen) {
    const path = run.pathTo(chosen);
    graph.lines(context, path.slice(1).map((n, i) => [path[i].id, n.id]), x, y, '#1d2733', 1.5);
  }
  const radius = Math.max(1.6, Math.min(6, 4.5 * k));
  const on = new Set(run.path);
  for (const node of run.nodes) {
    if (!node) continue;
    const [cx, cy] = [x(node.id), y(node.id)];
    if (cx < -20 || cy < -20 || cx > width + 20 || cy > height + 20) continue;
    const big = on.has(node.id) || node.id === 0;
    context.beginPath();
    context.arc(cx, cy, big ? Math.max(radius, 4) : radius, 0, 2 * Math.PI);
    if (run.measured(node) || node.status === 'in flight') {
      context.fillStyle = node.id === run.best && run.best !== 0 ? '#c98a12' : graph.colour(node);
      context.fill();
    } else {
      context.fillStyle = '#fff';
      context.fill();
      context.strokeStyle = graph.colour(node);
      context.lineWidth = 1.2;
      context.stroke();
    }
    if (node.id === graph.chosen || graph.hits.has(node.id)) {
      context.beginPath();
      context.arc(cx, cy, Math.max(radius, 4) + 3.5, 0, 2 * Math.PI);
      context.strokeStyle = node.id === graph.chosen ? '#1d2733' : '#2b7a4b';
      context.lineWidth = 2;
      context.stroke();
    }
  }
  graph.labels(context, x, y, k);
};

graph.lines = (context, pairs, x, y, colour, width) => {
  context.beginPath();
  for (const [a, b] of pairs) {
    context.moveTo(x(a), y(a));
    context.lineTo(x(b), y(b));
  }
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
};

// Speed-ups: of the path always, of the others from a scale on where there is room for them.
graph.labels = (context, x, y, k) => {
  context.font = '11px system-ui, sans-serif';
  context.fillStyle = '#1d2733';
  context.textBaseline = 'middle';
  context.textAlign = 'center';
  let below = -Infinity;
  for (const id of run.path) {
    if (y(id) - below < 11) continue;
    below = y(id);
    const text = id === 0 ? 'baseline' : run.ratio(run.nodes[id].speedup);
    context.lineWidth = 3;
    context.strokeStyle = 'rgba(255,255,255,.85)';
    context.strokeText(text, x(id), y(id) - 12);
    context.fillText(text, x(id), y(id) - 12);
  }
  context.textAlign = 'left';
  if (k < 3.4) return;
  const on = new Set(run.path);
  context.font = '9px system-ui, sans-serif';
  context.fillStyle = '#5c6a78';
  context.textAlign = 'center';
  for (const node of run.nodes) {
    if (node && !on.has(node.id) && run.measured(node)) context.fillText(node.speedup.toFixed(2), x(node.id), y(node.id) + 12);
  }
  context.textAlign = 'left';
};

graph.move = (scale, translate) => {
  graph.zoom.scale(scale).translate(translate);
  graph.draw();
};
graph.fit = () => {
  const {left, right, bottom} = graph.at, width = graph.canvas.clientWidth, height = graph.canvas.clientHeight;
  const k = Math.min((width - 60) / Math.max(right - left, 1), (height - 40) / Math.max(bottom, 1), 3);
  graph.move(k, [(width - (left + right) * k) / 2, Math.max(30, (height - bottom * k) / 2)]);
};
// Brings a node into view, where it is not or where nodes are too small to tell apart.
graph.centre = id => {
  const now = graph.zoom.scale(), [left, top] = graph.zoom.translate(), [width, height] = [graph.canvas.clientWidth, graph.canvas.clientHeight];
  const [cx, cy] = [graph.at.x[id] * now + left, graph.at.y[id] * now + top];
  if (now >= 0.8 && cx > 30 && cy > 30 && cx < width - 30 && cy < height - 30) return;
  const k = Math.max(now, 1);
  graph.move(k, [width / 2 - graph.at.x[id] * k, height / 2 - graph.at.y[id] * k]);
};
graph.by = factor => {
  const [width, height] = [graph.canvas.clientWidth, graph.canvas.clientHeight], k = graph.zoom.scale(), [left, top] = graph.zoom.translate();
  graph.move(k * factor, [width / 2 + (left - width / 2) * factor, height / 2 + (top - height / 2) * factor]);
};

// The node nearest to a point of the canvas, within 9 pixels.
graph.nearest = ([px, py]) => {
  const k = graph.zoom.scale(), [left, top] = graph.zoom.translate();
  const node = graph.index.find([(px - left) / k, (py - top) / k]);
  if (!node) return null;
  return Math.hypot(graph.at.x[node.id] * k + left - px, graph.at.y[node.id] * k + top - py) <= 9 ? node : null;
};

// Nodes whose key, move, status, proposer or refusing gate contains the words, all of them.
graph.find = words => {
  const wanted = words.toLowerCase().split(/\s+/).filter(w => w);
  if (wanted.length === 0) return [];
  return run.nodes.filter(node => {
    if (!node) return false;
    const text = [node.key, node.move, node.status, node.proposer, node.id === run.best ? 'best' : '', run.refused(node) ? run.refusedBy(node) : ''].join(' ').toLowerCase();
    return wanted.every(w => (/^[0-9a-f]{6,}$/.test(w) ? node.key.startsWith(w) || text.includes(w) : text.includes(w)));
  }).sort((a, b) => b.speedup - a.speedup);
};

graph.start = () => {
  graph.canvas = document.getElementById('graph');
  graph.layout();
  graph.zoom = d3.behavior.zoom().scaleExtent([0.005, 20]).on('zoom', graph.draw);
  const tip = d3.select('#tip');
  d3.select(graph.canvas).call(graph.zoom)
    .on('click', () => {
      if (d3.event.defaultPrevented) return;
      const node = graph.nearest(d3.mouse(graph.canvas));
      if (node) page.choose(node.id);
    })
    .on('mousemove', () => {
      const node = graph.nearest(d3.mouse(graph.canvas));
      graph.canvas.style.cursor = node ? 'pointer' : 'grab';
      tip.style('display', node ? 'block' : 'none');
      if (!node) return;
      const [px, py] = d3.mouse(graph.canvas);
      const what = run.measured(node) ? run.ratio(node.speedup) : run.refused(node) ? 'refused by ' + run.refusedBy(node) : node.status;
      tip.text(`${run.short(node)}  ${what}  ${node.move}`).style({left: Math.min(px + 14, graph.canvas.clientWidth - 330) + 'px', top: py + 14 + 'px'});
    })
    .on('mouseleave', () => tip.style('display', 'none'));
  d3.select('#zoom_in').on('click', () => graph.by(1.6));
  d3.select('#zoom_out').on('click', () => graph.by(1 / 1.6));
  d3.select('#zoom_fit').on('click', graph.fit);
  d3.select('#zoom_best').on('click', () => page.choose(run.best, true));
  d3.select('#links').property('checked', graph.all).on('change', function() {
    graph.all = this.checked;
    graph.draw();
  });
  d3.select('#search').on('input', function() {
    const found = graph.find(this.value);
    graph.hits = new Set(found.map(n => n.id));
    d3.select('#found').text(this.value.trim() ? `${found.length} of ${run.nodes.length}` : '');
    const list = d3.select('#results').selectAll('button').data(found.slice(0, 8), n => n.id);
    list.exit().remove();
    list.enter().append('button').attr('type', 'button');
    list.order().text(n => `${run.measured(n) ? run.ratio(n.speedup) : n.status}  ${n.move}`).on('click', n => page.choose(n.id, true));
    graph.draw();
  }).on('keydown', () => {
    const first = [...graph.hits][0];
    if (d3.event.key === 'Enter' && first !== undefined) page.choose(first, true);
  });
  graph.fit();
};
