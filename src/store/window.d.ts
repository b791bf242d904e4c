import type { RatioscopeApi } from './api';

declare global {
  interface Window {
    /** The page by script; see store/api.ts. */
    ratioscope: RatioscopeApi;
  }
}
