import { createStore } from 'zustand/vanilla';
import { FIELD_NAMES, fieldOf, type FieldName, type Problem } from '../config/fields';
import { findPreset, objectivePatch, presetConfig } from '../config/presets';
import type { RunConfig } from '../config/runConfig';
import { validateConfig } from '../config/validate';

/** A line for the person about something that was clamped, refused or done for them. */
export interface Notice {
  id: number;
  text: string;
}

export interface ConfigState {
  /** What the controls show; the worker may still run an older one (runStore.inForce). */
  config: RunConfig;
  notices: readonly Notice[];
  /** Sets some settings; bad values are clamped or refused with a notice. Returns the configuration that came of it. */
  patch(patch: Readonly<Record<string, unknown>>): RunConfig;
  choosePreset(id: string): void;
  chooseObjective(id: string): void;
  notify(texts: readonly string[]): void;
  closeNotice(id: number): void;
}

/** What a preset leaves alone: these belong to the person and the machine, not to the experiment. */
const OWN: readonly FieldName[] = ['task', 'model', 'seed', 'speed', 'evalEvery', 'evalPrompts'];

/** Notices shown at once; an older one makes room. */
const MAX_NOTICES = 4;

export type ConfigStore = ReturnType<typeof createConfigStore>;

/** The store of the settings that a person edits. `initial` must be a valid configuration. */
export function createConfigStore(initial: RunConfig, problems: readonly Problem[] = []) {
  let nextId = 1;
  const toNotices = (texts: readonly string[]): Notice[] => texts.map((text) => ({ id: nextId++, text }));
  return createStore<ConfigState>()((set, get) => ({
    config: initial,
    notices: toNotices(problems.map((problem) => problem.message)).slice(-MAX_NOTICES),
    patch(patch) {
      const { config, problems: found } = validateConfig(patch, get().config);
      if (differs(config, get().config)) set({ config });
      get().notify(found.map((problem) => problem.message));
      return config;
    },
    choosePreset(id) {
      if (findPreset(id)) get().patch({ ...presetOver(id, get().config) });
    },
    chooseObjective(id) {
      const { config, patch } = get();
      if (id === config.objective) return;
      const ownPreset = findPreset(id);
      patch({ ...(ownPreset && isPlainPreset(config) ? presetOver(id, config) : objectivePatch(config, id)) });
    },
    notify(texts) {
      if (texts.length === 0) return;
      const fresh = texts.filter((text) => !get().notices.some((notice) => notice.text === text));
      set({ notices: [...get().notices, ...toNotices(fresh)].slice(-MAX_NOTICES) });
    },
    closeNotice(id) {
      set({ notices: get().notices.filter((notice) => notice.id !== id) });
    },
  }));
}

/** A preset's configuration, with what belongs to the person kept. */
export function presetOver(id: string, config: RunConfig): RunConfig {
  const preset = presetConfig(id, config.model);
  return { ...preset, ...Object.fromEntries(OWN.map((name) => [name, config[name]])) };
}

/** True while the settings are exactly those of a calm preset: then another objective brings its own preset along. */
function isPlainPreset(config: RunConfig): boolean {
  const preset = findPreset(config.preset);
  return preset !== undefined && preset.kind !== 'stress' && changedFromPreset(config).length === 0;
}

/** Settings that no longer are what the chosen preset says. */
export function changedFromPreset(config: RunConfig): FieldName[] {
  if (!findPreset(config.preset)) return [];
  return changedFields(presetOver(config.preset, config), config);
}

/** Names of the settings in which two configurations differ. */
export function changedFields(a: RunConfig, b: RunConfig): FieldName[] {
  return FIELD_NAMES.filter((name) => a[name] !== b[name]);
}

/** Settings that wait for a reset: changed since the worker took its configuration, and not live. */
export function pendingFields(config: RunConfig, inForce: RunConfig | null): FieldName[] {
  return inForce === null ? [] : changedFields(inForce, config).filter((name) => !fieldOf(name).live);
}

const differs = (a: RunConfig, b: RunConfig): boolean => changedFields(a, b).length > 0;
