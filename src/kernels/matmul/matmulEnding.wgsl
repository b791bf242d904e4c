for (var r = 0u; r < rows; r++) {
  for (var s = 0u; s < strips; s++) {
    let i = (row + r) * outputs + column + s * STRIDE;
    var v = products[r * STRIPS + s];
    /*ENDING*/
    y[i] = v;
  }
}
