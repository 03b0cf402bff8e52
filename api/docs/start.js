// Shows the document. Nothing is remembered between visits, keys least of all,
// and no validator elsewhere is told what is read here.
document.documentElement.classList.toggle('dark-mode', matchMedia('(prefers-color-scheme: dark)').matches);

// The renderer filters by tag alone; this finds operations by all that they say of themselves, every word of the phrase.
const search = (tags, phrase) => {
  const words = phrase.toLowerCase().split(/\s+/);
  const found = (operation) => {
    const at = (...path) => operation.getIn(path) ?? '';
    const o = (name) => at('operation', name);
    const text = [at('method'), at('path'), o('operationId'), o('summary'), o('description'), o('x-method')].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return tags.map((tag) => tag.update('operations', (all) => all.filter(found))).filter((tag) => tag.get('operations').size);
};

SwaggerUIBundle({
  url: '/v1/openapi.yaml',
  dom_id: '#docs',
  deepLinking: true,
  filter: true,
  plugins: [{ fn: { opsFilter: search } }],
  onComplete: () => {
    const input = document.querySelector('.operation-filter-input');
    input.placeholder = 'Search operations';
    input.setAttribute('aria-label', input.placeholder);
  },
  showExtensions: true,
  persistAuthorization: false,
  validatorUrl: null,
});
