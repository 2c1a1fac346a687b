// Swagger UI on our own document: from here alone, so that the page works offline.
const place = document.getElementById("docs");
SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  docExpansion: "list",
  persistAuthorization: false,
  validatorUrl: null,
});
