/** Where the three columns and their fans lie, CSS px from the left of the plot. */
export interface ColumnBox {
  /** Left edge and width of the whole column. */
  x: number;
  width: number;
  /** Width of the part that holds the fans; the histogram stands right of it. */
  fanWidth: number;
  /** Left edge and width of the histogram; width 0 when there is none. */
  histogramX: number;
  histogramWidth: number;
}

/** Splits the plot into three equal columns, fans left and the histogram of the latest minibatch right. */
export function columnBoxes(plotWidth: number, compact: boolean): ColumnBox[] {
  const gap = compact ? 10 : 24;
  const width = Math.max(0, (plotWidth - 2 * gap) / 3);
  const histogramWidth = compact ? 0 : Math.min(44, Math.max(20, width * 0.145));
  const fanWidth = compact ? width : width - histogramWidth - 6;
  return [0, 1, 2].map((index) => {
    const x = index * (width + gap);
    return { x, width, fanWidth, histogramX: x + width - histogramWidth, histogramWidth };
  });
}

/** x of update `index` of `count` inside fan number `fan` of `fans`; a lone update stands in the middle. */
export function updateX(box: ColumnBox, fan: number, fans: number, index: number, count: number): number {
  const slot = box.fanWidth / fans;
  const inset = 2;
  const along = count > 1 ? index / (count - 1) : 0.5;
  return box.x + fan * slot + inset + along * (slot - 2 * inset);
}
