// Shows the document. Nothing is remembered between visits, keys least of all,
// and no validator elsewhere is told what is read here.
document.documentElement.classList.toggle('dark-mode', matchMedia('(prefers-color-scheme: dark)').matches);
SwaggerUIBundle({
  url: '/v1/openapi.yaml',
  dom_id: '#docs',
  deepLinking: true,
  showExtensions: true,
  persistAuthorization: false,
  validatorUrl: null,
});
