import { Button } from '../controls/Button';
import { BrandMark } from '../theme/Glyph';

/** Where WebGPU is to be had. */
const BROWSERS: readonly (readonly [string, string])[] = [
  ['Chrome or Edge, Windows, macOS, ChromeOS', 'Version 113 or newer has WebGPU on. If it is new enough, look for \u201cUse graphics acceleration when available\u201d in the settings under System, and restart.'],
  ['Chrome on Android', 'Version 121 or newer on Android 12 with a Qualcomm or ARM GPU.'],
  ['Chrome or Edge, Linux', 'Open chrome://flags, enable \u201cUnsafe WebGPU Support\u201d and \u201cVulkan\u201d, and restart. Newer versions have it on for recent Intel GPUs.'],
  ['Safari', 'Version 26 or newer on macOS, iOS or iPadOS.'],
  ['Firefox', 'Version 141 or newer on Windows, 145 or newer on macOS with Apple silicon. On Linux use Firefox Nightly.'],
  ['Any browser', 'The page must come over https or from localhost: WebGPU is kept from plain http.'],
];

/** What to do in each browser to get WebGPU. */
export function BrowserAdvice() {
  return (
    <dl className="browser-advice">
      {BROWSERS.map(([browser, advice]) => (
        <div key={browser}>
          <dt>{browser}</dt>
          <dd>{advice}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The whole page when neither WebGPU nor its stand-in works: what is missing, and what to do about it. */
export function NoWebGpu({ message, hint, onRetry }: { message: string; hint: string; onRetry(): void }) {
  return (
    <main className="no-webgpu">
      <p className="brand">
        <BrandMark />
        Ratioscope
      </p>
      <h1>This page trains a language model on your GPU, and this browser offers none</h1>
      <p className="soft">
        {message} {hint}
      </p>
      <BrowserAdvice />
      <p className="soft">No GPU at all? A Chromium started with a software adapter runs it too, more slowly: the small model takes a few seconds a step.</p>
      <Button kind="solid" className="primary" onClick={onRetry}>
        Look again
      </Button>
    </main>
  );
}
