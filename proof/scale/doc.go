// Package scale computes what one stack carries: from the settings of the
// synthesised template, the units and requests per delivery of docs/cost.md, and the
// list quotas of AWS. The package runs nothing and measures nothing itself.
//
// `make scale` writes docs/scale.md. A test holds the document to the template and to
// docs/cost.md.
package scale
