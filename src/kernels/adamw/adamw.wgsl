// One AdamW step with gradient-norm clipping, in place (Loshchilov & Hutter 2019, arXiv 1711.05101, algorithm 2).
// params, m, v [flat], grads [flat]; decays [flat/4]: 1 where weight decay applies; norm [1] as bits.
// A norm that is not finite leaves everything as it was: its exponent bits are tested, since a shader compiler may assume there is no NaN.
struct Hyper { lr: f32, beta1: f32, beta2: f32, eps: f32, decay: f32, maxNorm: f32, correction1: f32, correction2: f32 }
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> hyper: Hyper;
@group(0) @binding(2) var<storage, read> norm: array<u32>;
@group(0) @binding(3) var<storage, read> grads: array<vec4f>;
@group(0) @binding(4) var<storage, read> decays: array<f32>;
@group(0) @binding(5) var<storage, read_write> params: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> m: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> v: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= dims.rows) { return; }
  if ((norm[0] & 0x7f800000u) == 0x7f800000u) { return; }
  let scale = min(1.0, hyper.maxNorm / (bitcast<f32>(norm[0]) + 1e-6));
  let g = grads[i] * scale;
  let m1 = hyper.beta1 * m[i] + (1.0 - hyper.beta1) * g;
  let v1 = hyper.beta2 * v[i] + (1.0 - hyper.beta2) * g * g;
  m[i] = m1;
  v[i] = v1;
  let step = (m1 / hyper.correction1) / (sqrt(v1 / hyper.correction2) + hyper.eps);
  let p = params[i];
  params[i] = p - hyper.lr * (step + hyper.decay * decays[i] * p);
}
