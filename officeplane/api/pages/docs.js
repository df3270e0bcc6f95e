"use strict";
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  // Nothing of this page is sent to a checker elsewhere.
  validatorUrl: null,
});
