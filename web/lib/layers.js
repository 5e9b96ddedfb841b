// Boxes in layers, each behind all that it depends on. Where an edge passes a layer a lane is left free for it: edges run between
// neighbouring layers and along lanes, so that none runs behind a box.

const BOX = {width: 190, height: 34};
const LANE = 10;
const GAP = {x: 56, y: 12};
const STEP = BOX.width + GAP.x;
const SWEEPS = 6;
const ALONE = 3; // what neither depends nor is depended on stands below, at least so many in a row

/** {id: how many others must be done before, one after another}. */
function depthsOf(byId) {
  const depths = new Map();
  const depth = (id) => {
    if (!depths.has(id)) {
      depths.set(id, 0);
      depths.set(id, 1 + Math.max(-1, ...byId.get(id).dependsOn.filter((other) => byId.has(other)).map(depth)));
    }
    return depths.get(id);
  };
  for (const id of byId.keys()) depth(id);
  return depths;
}

/** {nodes: {id: node}, edges: [[box, lanes…, box]], layers: [[nodes]]} of what depends or is depended on. Edges from one box share its lanes. */
function build(byId) {
  const depths = depthsOf(byId);
  const [nodes, layers, edges] = [new Map(), [], []];
  const put = (layer, height) => {
    const node = {layer, height, before: [], after: [], lanes: [], x: layer * STEP};
    (layers[layer] ??= []).push(node);
    return node;
  };
  const boxOf = (id) => nodes.get(id) ?? nodes.set(id, put(depths.get(id), BOX.height)).get(id);
  for (const [id, {dependsOn}] of byId) {
    for (const other of dependsOn.filter((name) => byId.has(name))) {
      const [from, to] = [boxOf(other), boxOf(id)];
      for (let layer = from.layer + 1; layer < to.layer; layer++) from.lanes[layer] ??= put(layer, LANE);
      const chain = [from, ...from.lanes.slice(from.layer + 1, to.layer), to];
      chain.slice(1).forEach((node, at) => { node.before.push(chain[at]); chain[at].after.push(node); });
      edges.push({key: `${other} ${id}`, chain});
    }
  }
  return {nodes, edges, layers};
}

const mean = (list, of) => list.reduce((sum, node) => sum + of(node), 0) / list.length;

/** Each layer in the order of its neighbours on one side. */
function sort(layers, side) {
  for (const layer of layers) {
    layer.forEach((node, row) => { node.row = row; });
    for (const node of layer) node.wish = node[side].length ? mean(node[side], (other) => other.row) : node.row;
    layer.sort((a, b) => a.wish - b.wish).forEach((node, row) => { node.row = row; });
  }
}

const middle = (node) => node.y + node.height / 2;

/** Each as high as what it depends on, where there is room. */
function lower(layers) {
  for (const layer of layers) {
    let free = 0;
    for (const node of layer) {
      const wish = node.before.length ? mean(node.before, middle) - node.height / 2 : 0;
      node.y = Math.max(free, wish);
      free = node.y + node.height + GAP.y;
    }
  }
}

function pathOf([from, ...rest]) {
  let path = `M${from.x + BOX.width} ${middle(from)}`;
  let y = middle(from);
  for (const node of rest) {
    const bend = node.x - GAP.x / 2;
    const isLane = node.height === LANE;
    path += `C${bend} ${y} ${bend} ${(y = middle(node))} ${isLane ? `${node.x} ${y}H${node.x + BOX.width}` : `${node.x - 5} ${y}`}`;
  }
  return path;
}

/** Where each package stands and what way each edge takes: {box, spots: {id: {x, y}}, paths: [{key, path}], width, height}. */
export function layOut(packages) {
  const {nodes, edges, layers} = build(new Map(packages.map((one) => [one.id, one])));
  for (let sweep = 0; sweep < SWEEPS; sweep++) sort(sweep % 2 ? [...layers].reverse() : layers, sweep % 2 ? "after" : "before");
  lower(layers);
  const below = Math.max(0, ...layers.flat().map((node) => node.y + node.height + GAP.y));
  const across = Math.max(ALONE, layers.length);
  packages.filter((one) => !nodes.has(one.id)).forEach((one, at) => nodes.set(one.id, {x: (at % across) * STEP, y: below + Math.floor(at / across) * (BOX.height + GAP.y)}));
  const most = (name) => Math.max(...[...nodes.values()].map((node) => node[name]));
  return {box: BOX, spots: nodes, paths: edges.map(({key, chain}) => ({key, path: pathOf(chain)})), width: most("x") + BOX.width + 1, height: most("y") + BOX.height + 1};
}
