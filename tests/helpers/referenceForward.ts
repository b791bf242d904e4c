import { paramLayout, type ModelConfig } from '../../src/model/config';

/**
 * The policy's forward pass in f64, written from experiments.md alone and for clarity, not speed: the yardstick for
 * every other implementation. Returns logits [T][V] for one row of token ids.
 */
export function referenceForward(config: ModelConfig, params: ArrayLike<number>, tokens: ArrayLike<number>): number[][] {
  const { C, L, H, V, ropeBase, normEps } = config;
  const layout = paramLayout(config);
  const hd = C / H;
  const weight = (name: string, row: number, column: number, columns: number): number => {
    const spec = layout.byName.get(name);
    if (!spec) throw new Error(`no weight ${name}`);
    return params[spec.offset + row * columns + column] as number;
  };
  const times = (x: number[], name: string, columns: number): number[] =>
    Array.from({ length: columns }, (_, j) => x.reduce((sum, value, i) => sum + value * weight(name, i, j, columns), 0));
  const norm = (x: number[], name: string): number[] => {
    const scale = 1 / Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / C + normEps);
    return x.map((v, i) => v * scale * weight(name, 0, i, C));
  };
  /** One head's slice, turned by the position: the pair (i, i + hd/2) by the angle pos * base^(-2i/hd). */
  const rope = (head: number[], pos: number): number[] =>
    head.map((v, i) => {
      const pair = i % (hd / 2);
      const angle = pos * ropeBase ** ((-2 * pair) / hd);
      const other = head[i < hd / 2 ? i + hd / 2 : i - hd / 2] as number;
      return v * Math.cos(angle) + (i < hd / 2 ? -other : other) * Math.sin(angle);
    });
  const dot = (a: number[], b: number[]) => a.reduce((sum, v, i) => sum + v * (b[i] as number), 0);

  let x = Array.from(tokens, (token, pos) => Array.from({ length: C }, (_, c) => weight('tokenEmbedding', token, c, C) + weight('positionEmbedding', pos, c, C)));
  for (let l = 0; l < L; l++) {
    const qkv = x.map((row) => times(norm(row, `l${l}.norm1`), `l${l}.qkv`, 3 * C));
    x = x.map((row, t) => {
      const mixed: number[] = [];
      for (let h = 0; h < H; h++) {
        const part = (s: number, which: number) => (qkv[s] as number[]).slice(which * C + h * hd, which * C + (h + 1) * hd);
        const q = rope(part(t, 0), t);
        const scores = Array.from({ length: t + 1 }, (_, s) => dot(q, rope(part(s, 1), s)) / Math.sqrt(hd));
        const top = Math.max(...scores);
        const exps = scores.map((s) => Math.exp(s - top));
        const total = exps.reduce((a, b) => a + b, 0);
        for (let c = 0; c < hd; c++) mixed.push(exps.reduce((sum, e, s) => sum + (e / total) * (part(s, 2)[c] as number), 0));
      }
      const out = times(mixed, `l${l}.attnOut`, C);
      return row.map((v, c) => v + (out[c] as number));
    });
    x = x.map((row) => {
      const hidden = times(norm(row, `l${l}.norm2`), `l${l}.fc1`, 4 * C).map((v) => v / (1 + Math.exp(-1.702 * v)));
      const out = times(hidden, `l${l}.fc2`, C);
      return row.map((v, c) => v + (out[c] as number));
    });
  }
  return x.map((row) => times(norm(row, 'finalNorm'), 'unembed', V));
}

/** Random parameters with the layout's initial standard deviations; gains scattered around 1, so that a dropped gain shows. */
export function randomParams(config: ModelConfig, normal: () => number): Float32Array<ArrayBuffer> {
  const layout = paramLayout(config);
  const flat = new Float32Array(layout.flatSize);
  for (const spec of layout.specs) {
    for (let i = 0; i < spec.size; i++) flat[spec.offset + i] = spec.initSd === 'gain' ? 1 + 0.2 * normal() : spec.initSd * normal();
  }
  return flat;
}

/** log softmax(logits / temperature)[target], nats. */
export function logSoftmaxAt(logits: number[], target: number, temperature = 1): number {
  const scaled = logits.map((v) => v / temperature);
  const top = Math.max(...scaled);
  return (scaled[target] as number) - top - Math.log(scaled.reduce((sum, v) => sum + Math.exp(v - top), 0));
}
