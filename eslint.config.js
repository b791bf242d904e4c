import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const unsafeCode = [
  { selector: "CallExpression[callee.name='eval']", message: 'No eval: the page promises never to run text as code.' },
  { selector: "NewExpression[callee.name='Function'], CallExpression[callee.name='Function']", message: 'No Function constructor: the page promises never to run text as code.' },
  { selector: "AssignmentExpression[left.property.name=/^(innerHTML|outerHTML)$/]", message: 'No innerHTML: use elements or textContent.' },
  { selector: "CallExpression[callee.property.name='insertAdjacentHTML']", message: 'No insertAdjacentHTML: use elements or textContent.' },
  { selector: "CallExpression[callee.object.name='document'][callee.property.name=/^(write|writeln)$/]", message: 'No document.write: use elements or textContent.' },
  { selector: "CallExpression[callee.name=/^(setTimeout|setInterval)$/] > Literal.arguments:first-child", message: 'Timers take a function, never text.' },
];

const rawHtml = { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'Only src/ui/formula may set markup: KaTeX output of our own TeX.' };

// A fast set: rules that find mistakes, no rules of taste. Only no-floating-promises and no-misused-promises need types.
export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.cache/', 'docs/'] },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { 'react-hooks': reactHooks },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-require-imports': 'error',
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description' }],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-debugger': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-console': ['error', { allow: ['warn', 'error'] }],
      'no-restricted-syntax': ['error', ...unsafeCode, rawHtml],
    },
  },
  { files: ['src/ui/formula/**'], rules: { 'no-restricted-syntax': ['error', ...unsafeCode] } },
  {
    // Programs for a terminal.
    files: ['cli/**', 'bench/**', 'tests/**', 'scripts/**'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.{js,mjs}'],
    rules: { eqeqeq: ['error', 'always', { null: 'ignore' }], 'no-var': 'error', 'prefer-const': 'error', 'no-undef': 'off', 'no-restricted-syntax': ['error', ...unsafeCode] },
  },
);
