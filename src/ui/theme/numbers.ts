/** How the page writes numbers: true minus sign, no leading zero for fractions, an exact zero is "0". */

const MINUS = '\u2212';
const NOTHING = '\u2013';

/** Replaces the hyphen of a printed number by a minus sign. */
export function trueMinus(text: string): string {
  return text.replace(/-/g, MINUS);
}

/** ".86", "−.14", "1.20": fixed decimals without a leading zero. Not finite: "–". Exact zero: "0". */
export function fraction(value: number | null | undefined, decimals = 2): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  if (value === 0) return '0';
  const text = Math.abs(value).toFixed(decimals);
  return (value < 0 ? MINUS : '') + (text.startsWith('0.') ? text.slice(1) : text);
}

/** "+.725", "−1.208": as `fraction`, with a plus sign too. */
export function signed(value: number, decimals = 3): string {
  return value > 0 ? `+${fraction(value, decimals)}` : fraction(value, decimals);
}

/** "0.985", "1.09", "4,300": a ratio keeps its zero; 3 decimals from 4 tokens up, 2 for shorter units; large ones lose decimals. */
export function ratio(value: number, tokens = 4): string {
  if (!Number.isFinite(value)) return NOTHING;
  if (value >= 1000) return grouped(Number(value.toPrecision(2)));
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value.toFixed(tokens >= 4 ? 3 : 2);
}

/** "2.1%", "40%", ".034%": a share to two significant digits; exact zero "0", exact one "100%". */
export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  if (value === 0) return '0';
  return `${significant(value * 100, 2)}%`;
}

/** Significant digits without exponent for everyday sizes: "2.1", "40", ".034", "3e−7". */
export function significant(value: number, digits = 2): string {
  if (!Number.isFinite(value)) return NOTHING;
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e7) return scientific(value, digits);
  const rounded = Number(size.toPrecision(digits));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(rounded)));
  const text = rounded >= 1000 ? grouped(rounded) : rounded.toFixed(decimals);
  return (value < 0 ? MINUS : '') + (text.startsWith('0.') ? text.slice(1) : text);
}

/** "3e−4", "2.1e−6": short scientific notation. */
export function scientific(value: number, digits = 2): string {
  if (!Number.isFinite(value)) return NOTHING;
  if (value === 0) return '0';
  const [mantissa = '', exponent = '0'] = value.toExponential(digits - 1).split('e');
  const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  return trueMinus(`${short}e${Number(exponent)}`);
}

/** A setting as a person would write it: "3e−4", ".2", "16", "1.05". Never loses digits that were typed. */
export function setting(value: number): string {
  if (!Number.isFinite(value)) return NOTHING;
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-2) return scientific(value, 6);
  const text = trueMinus(String(Number(value.toPrecision(12))));
  return text.replace(/^(\u2212?)0\./, '$1.');
}

/** "61,680". */
export function grouped(value: number): string {
  if (!Number.isFinite(value)) return NOTHING;
  return trueMinus(Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ','));
}

/** "61 ms", "1.2 s". */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return NOTHING;
  if (ms < 1) return `${significant(ms)} ms`;
  if (ms < 1000) return `${ms.toFixed(0)} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}
