import { TABLE_COLUMNS } from './table';
import type { LensTableRow } from './types';

/** The table as CSV (RFC 4180: CRLF, quotes doubled), numbers in full precision; the second line names TRL's and the third verl's number. */
export function tableCsv(rows: readonly LensTableRow[]): string {
  const names = (of: 'trl' | 'verl') => TABLE_COLUMNS.map((column) => [...new Set(rows.map((row) => column[of](row)).filter((name) => name !== null))].join(' | '));
  const head = ['objective', 'widths', 'level', 'clipLow', 'clipHigh', 'lossAggMode', 'dualClip', 'tokens', ...TABLE_COLUMNS.map((column) => column.id)];
  const lead = (first: string) => [first, '', '', '', '', '', '', ''];
  const lines: (string | number | null)[][] = [
    head,
    [...lead('TRL calls it'), ...names('trl')],
    [...lead('verl calls it'), ...names('verl')],
    ...rows.map((row) => [
      row.objective,
      row.variant ?? 'in force',
      row.level,
      row.widths?.low ?? null,
      row.widths?.high ?? null,
      row.lossAggMode,
      row.dualClip,
      row.metrics.tokens,
      ...TABLE_COLUMNS.map((column) => column.value(row)),
    ]),
  ];
  return lines.map((line) => `${line.map(cell).join(',')}\r\n`).join('');
}

function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
