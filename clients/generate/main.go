// Command generate writes the methods of the clients from the contract: one method for each
// operation with x-method, under the same name in Go, TypeScript and Python. `make generate` runs
// it in the root of the repository; an argument is a folder for the files, in place of the work
// tree. Requests and types are written by public generators.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"log"
	"os"
	"path"
	"strings"
	"text/template"

	"github.com/getkin/kin-openapi/openapi3"
)

//go:embed *.tmpl
var templates embed.FS

func main() {
	into := "."
	if len(os.Args) > 1 {
		into = os.Args[1]
	}
	if err := run(into); err != nil {
		log.Fatal(err)
	}
}

func run(into string) error {
	doc, err := openapi3.NewLoader().LoadFromFile("api/openapi.yaml")
	if err != nil {
		return fmt.Errorf("read the contract: %w", err)
	}
	resources, err := resourcesOf(doc)
	if err != nil {
		return err
	}
	for to, name := range map[string]string{
		"client/resources.gen.go":               "go.tmpl",
		"clients/ts/src/resources.ts":           "ts.tmpl",
		"clients/python/surehook/_resources.py": "python.tmpl",
	} {
		if err := write(path.Join(into, to), name, resources); err != nil {
			return fmt.Errorf("write %s: %w", to, err)
		}
	}
	return nil
}

func write(to, name string, resources []resource) error {
	t, err := template.New(name).Funcs(template.FuncMap{"pascal": pascal, "snake": snake}).ParseFS(templates, name)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, resources); err != nil {
		return err
	}
	code := text.Bytes()
	if path.Ext(to) == ".go" {
		if code, err = format.Source(code); err != nil {
			return err
		}
	}
	return os.WriteFile(to, code, 0o644)
}

// pascal turns deadLetters into DeadLetters.
func pascal(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// snake turns deadLetters and If-Match into dead_letters and if_match.
func snake(name string) string {
	var b strings.Builder
	for i, r := range strings.ReplaceAll(name, "-", "") {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}
