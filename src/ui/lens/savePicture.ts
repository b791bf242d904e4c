/** Pictures out of the page: an SVG that stands alone (colours and fonts inside), and a PNG of it. */

const INLINED = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'paint-order', 'letter-spacing', 'color', 'font-variant-numeric', 'white-space'] as const;
const MARGIN = 16;
const TITLE_ROOM = 26;

/** A copy of a drawing of this page that looks the same anywhere; `title` stands above it. */
export async function standaloneSvg(svg: SVGSVGElement, title: string): Promise<{ text: string; width: number; height: number }> {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((element, i) => {
    const style = getComputedStyle(originals[i] as Element);
    const own = INLINED.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';');
    element.removeAttribute('class');
    element.removeAttribute('tabindex');
    element.setAttribute('style', own);
    // Custom properties mean nothing outside the page; the style above holds their values.
    for (const { name, value } of [...element.attributes]) if (name !== 'style' && value.includes('var(')) element.removeAttribute(name);
  });
  const width = svg.width.baseVal.value + 2 * MARGIN;
  const height = svg.height.baseVal.value + 2 * MARGIN + TITLE_ROOM;
  const page = getComputedStyle(document.documentElement);
  const colour = (name: string) => page.getPropertyValue(name).trim();
  const inner = new XMLSerializer().serializeToString(copy);
  const fonts = await embeddedFonts();
  const text =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<style>${fonts}</style><rect width="100%" height="100%" fill="${colour('--surface')}"/>` +
    `<text x="${MARGIN}" y="${MARGIN + 12}" style="font:600 15px 'Inter Variable',Inter,sans-serif" fill="${colour('--ink')}">${escapeXml(title)}</text>` +
    `<g transform="translate(${MARGIN} ${MARGIN + TITLE_ROOM})">${inner}</g></svg>`;
  return { text, width, height };
}

const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The same as a picture of pixels, `scale` to a CSS px. */
export async function svgToPng(svg: { text: string; width: number; height: number }, scale = 2): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg.text], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(svg.width * scale);
    canvas.height = Math.round(svg.height * scale);
    const context = canvas.getContext('2d');
    context?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The browser could not make a PNG of this picture.'))), 'image/png'));
  } finally {
    URL.revokeObjectURL(url);
  }
}

let fontCss: Promise<string> | null = null;

/** The page's Latin fonts as data, since a picture may fetch nothing. Without them (offline, odd styles) system fonts serve. */
function embeddedFonts(): Promise<string> {
  fontCss ??= collectFonts().catch(() => '');
  return fontCss;
}

async function collectFonts(): Promise<string> {
  const faces = [...document.styleSheets].flatMap((sheet) => {
    try {
      return [...sheet.cssRules].filter((rule): rule is CSSFontFaceRule => rule instanceof CSSFontFaceRule).map((rule) => ({ rule, base: sheet.href ?? document.baseURI }));
    } catch {
      return [];
    }
  });
  const latin = faces.filter(({ rule }) => /Inter|JetBrains/.test(rule.style.getPropertyValue('font-family')) && /U\+0{0,3}0?-0?0?FF/i.test(rule.style.getPropertyValue('unicode-range')));
  const parts = await Promise.all(
    latin.map(async ({ rule, base }) => {
      const source = /url\(["']?([^"')]+)/.exec(rule.style.getPropertyValue('src'))?.[1];
      if (!source) return '';
      const data = source.startsWith('data:') ? source : await asDataUrl(await (await fetch(new URL(source, base))).blob());
      return `@font-face{font-family:${rule.style.getPropertyValue('font-family')};font-weight:100 900;src:url(${data}) format("woff2")}`;
    }),
  );
  return parts.join('');
}

function asDataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('The font could not be read.'));
    reader.readAsDataURL(blob);
  });
}

/** Hands a file to the person. */
export function download(name: string, content: Blob | string, type = 'text/plain'): void {
  const url = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
