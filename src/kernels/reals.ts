/** Arrays of numbers as the f64 twins take them: f32 data from the GPU or f64 data of a reference run. */
export type Reals = Float32Array | Float64Array;
