package layers_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestNames_Complete checks that each table of hook.Names has a word for every constant of its
// type, because the compiler does not miss one.
func TestNames_Complete(t *testing.T) {
	t.Parallel()

	tables := 0
	for _, glob := range []string{"internal/hook", "internal/rule/*", "internal/delivery/*", "internal/admin/*"} {
		folders, err := filepath.Glob("../../" + glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			constants, words := make(map[string][]string), make(map[string]map[string]bool)
			for _, s := range parse(t, room{folder: strings.TrimPrefix(folder, "../../")}) {
				ast.Inspect(s.ast, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.GenDecl:
						addConstants(constants, n)
					case *ast.CompositeLit:
						addWords(words, n)
					}
					return true
				})
			}
			for of, named := range words {
				tables++
				for _, c := range constants[of] {
					if !named[c] {
						t.Errorf("%s: the names of %s have no word for %s", folder, of, c)
					}
				}
			}
		}
	}
	if tables < 15 {
		t.Errorf("found %d tables of names; want those of all enums", tables)
	}
}

// addConstants adds the constants of the declaration by their type. A constant without a type
// and a value has those of the one before.
func addConstants(to map[string][]string, d *ast.GenDecl) {
	of := ""
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.ValueSpec)
		if !ok || d.Tok != token.CONST {
			return
		}
		if id, ok := s.Type.(*ast.Ident); ok {
			of = id.Name
		} else if len(s.Values) > 0 {
			of = ""
		}
		for _, name := range s.Names {
			to[of] = append(to[of], name.Name)
		}
	}
}

// addWords adds the keys of the literal, if it is a table of names, by the type of its values.
func addWords(to map[string]map[string]bool, l *ast.CompositeLit) {
	table, ok := l.Type.(*ast.IndexExpr)
	if !ok {
		return
	}
	of, ok := table.Index.(*ast.Ident)
	if name, local := table.X.(*ast.Ident); !ok || local && name.Name != "Names" {
		return
	}
	if name, foreign := table.X.(*ast.SelectorExpr); foreign && name.Sel.Name != "Names" {
		return
	}
	to[of.Name] = make(map[string]bool)
	for _, element := range l.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				to[of.Name][key.Name] = true
			}
		}
	}
}
