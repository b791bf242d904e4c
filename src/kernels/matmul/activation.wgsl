// The MLP's activation h sigmoid(1.702 h), and its slope.
// The clamp keeps exp finite; beyond it the sigmoid is 0 or 1 to f32 precision.
fn sigmoid(v: f32) -> f32 { return 1.0 / (1.0 + exp(clamp(-1.702 * v, -80.0, 80.0))); }
fn slope(h: f32) -> f32 {
  let s = sigmoid(h);
  return s * (1.0 + 1.702 * h * (1.0 - s));
}
