import { attentionBackwardCpu, attentionForwardCpu } from '../kernels/attention/attention.cpu';
import { embedBackwardCpu, embedForwardCpu } from '../kernels/embed/embed.cpu';
import { activationBackwardCpu, activationCpu, matmulBackwardInputCpu, matmulBackwardWeightCpu, matmulForwardCpu } from '../kernels/matmul/matmul.cpu';
import type { Reals } from '../kernels/reals';
import { rmsnormBackwardCpu, rmsnormForwardCpu } from '../kernels/rmsnorm/rmsnorm.cpu';
import { ropeCpu } from '../kernels/rope/rope.cpu';
import { tokenLogpBackwardCpu, tokenLogpForwardCpu } from '../kernels/tokenLogp/tokenLogp.cpu';
import { paramLayout, type ModelConfig } from './config';

export interface CpuInputs {
  tok: Uint32Array;
  pos: Uint32Array;
  targets: Uint32Array;
  temperature: number;
}

export interface CpuForward {
  logits: Float64Array;
  logp: Float64Array;
  entropy: Float64Array;
  /** Gradient of the flat parameters for given dLoss/dlogp; [flat]. */
  backward(coefficient: Reals): Float64Array;
}

/** The policy in f64 over packed positions: the twin that the GPU's forward and backward are held against. */
export function transformerCpu(config: ModelConfig, flat: Reals, inputs: CpuInputs): CpuForward {
  const { C, L, H, V } = config;
  const layout = paramLayout(config);
  const spec = (name: string) => {
    const found = layout.byName.get(name);
    if (!found) throw new Error(`no parameter is called ${name}`);
    return found;
  };
  const w = (name: string) => flat.subarray(spec(name).offset, spec(name).offset + spec(name).size);
  const { tok, pos, targets, temperature } = inputs;

  let x = embedForwardCpu(tok, pos, w('tokenEmbedding'), w('positionEmbedding'), C);
  const layers = Array.from({ length: L }, (_, l) => {
    const xIn = x;
    const n1 = rmsnormForwardCpu(xIn, w(`l${l}.norm1`), C, config.normEps);
    const qkv = matmulForwardCpu(n1.y, w(`l${l}.qkv`), C, 3 * C);
    ropeCpu(qkv, pos, C, H, config.ropeBase);
    const att = attentionForwardCpu(qkv, pos, C, H);
    const xMid = plus(xIn, matmulForwardCpu(att.out, w(`l${l}.attnOut`), C, C));
    const n2 = rmsnormForwardCpu(xMid, w(`l${l}.norm2`), C, config.normEps);
    const h = matmulForwardCpu(n2.y, w(`l${l}.fc1`), C, 4 * C);
    const a = activationCpu(h);
    x = plus(xMid, matmulForwardCpu(a, w(`l${l}.fc2`), 4 * C, C));
    return { xIn, n1, qkv, att, xMid, n2, h, a };
  });
  const xFinal = x;
  const nf = rmsnormForwardCpu(xFinal, w('finalNorm'), C, config.normEps);
  const logits = matmulForwardCpu(nf.y, w('unembed'), C, V);
  const { logp, entropy, lse } = tokenLogpForwardCpu(logits, targets, V, temperature);

  const backward = (coefficient: Reals): Float64Array => {
    const grads = new Float64Array(layout.flatSize);
    const put = (name: string, g: Float64Array) => grads.set(g, spec(name).offset);
    const dlogits = tokenLogpBackwardCpu(logits, targets, lse, coefficient, V, temperature);
    put('unembed', matmulBackwardWeightCpu(nf.y, dlogits, C, V));
    const top = rmsnormBackwardCpu(xFinal, w('finalNorm'), nf.rstd, matmulBackwardInputCpu(dlogits, w('unembed'), C, V), C);
    put('finalNorm', top.dg);
    let dx = top.dx;
    for (let l = L - 1; l >= 0; l--) {
      const layer = layers[l];
      put(`l${l}.fc2`, matmulBackwardWeightCpu(layer.a, dx, 4 * C, C));
      const dh = activationBackwardCpu(layer.h, matmulBackwardInputCpu(dx, w(`l${l}.fc2`), 4 * C, C));
      put(`l${l}.fc1`, matmulBackwardWeightCpu(layer.n2.y, dh, C, 4 * C));
      const norm2 = rmsnormBackwardCpu(layer.xMid, w(`l${l}.norm2`), layer.n2.rstd, matmulBackwardInputCpu(dh, w(`l${l}.fc1`), C, 4 * C), C);
      put(`l${l}.norm2`, norm2.dg);
      dx = plus(dx, norm2.dx);
      put(`l${l}.attnOut`, matmulBackwardWeightCpu(layer.att.out, dx, C, C));
      const dAtt = matmulBackwardInputCpu(dx, w(`l${l}.attnOut`), C, C);
      const dqkv = attentionBackwardCpu(layer.qkv, pos, layer.att.out, layer.att.lse, dAtt, C, H);
      ropeCpu(dqkv, pos, C, H, config.ropeBase, true);
      put(`l${l}.qkv`, matmulBackwardWeightCpu(layer.n1.y, dqkv, C, 3 * C));
      const norm1 = rmsnormBackwardCpu(layer.xIn, w(`l${l}.norm1`), layer.n1.rstd, matmulBackwardInputCpu(dqkv, w(`l${l}.qkv`), C, 3 * C), C);
      put(`l${l}.norm1`, norm1.dg);
      dx = plus(dx, norm1.dx);
    }
    const dE = new Float64Array(spec('tokenEmbedding').size);
    const dP = new Float64Array(spec('positionEmbedding').size);
    embedBackwardCpu(tok, pos, dx, C, dE, dP);
    put('tokenEmbedding', dE);
    put('positionEmbedding', dP);
    return grads;
  };
  return { logits, logp, entropy, backward };
}

function plus(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((v, i) => v + b[i]);
}
