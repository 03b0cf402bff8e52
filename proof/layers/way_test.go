package layers_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/settle"
)

// room is a package on the way of a task, with its files in the order of the way.
type room struct {
	folder string // below the root
	files  []string
}

// way is the way of a task, from the batch to the settled delivery. Within a package, a file uses
// only the files after it, so a reader can go down the list.
func way() []room {
	return []room{
		{"internal/delivery/deliver", []string{
			"batch", "part", "replay", "process", "judge", "request", "result", "log", "snapshot", "job", "ports",
		}},
		{"internal/rule/settlement", []string{"judge", "decision", "attempted", "follow"}},
		{"internal/delivery/admit", []string{"gate", "done", "slots", "call", "late", "credit", "share", "unwritten", "write", "ports"}},
		{"internal/delivery/attempt", []string{"maker", "together", "document", "open", "tls", "remote", "time", "log", "ports"}},
		{"internal/delivery/settle", []string{"settler", "task", "completion", "gone", "notify", "orders", "turn", "head", "queued", "log", "ports"}},
		{"internal/rule/admission", []string{"table", "rows", "group", "permit", "outcome", "transition", "slots", "speed", "record", "pace", "query", "claim", "order", "leases", "rate", "limits"}},
	}
}

// The bounds of a file and of a function, in lines.
const (
	maxFile     = 250
	maxFunction = 60
)

// source is a file of a room.
type source struct {
	name string
	ast  *ast.File
	set  *token.FileSet
	raw  []byte
}

func parse(t *testing.T, r room) (all []source) {
	t.Helper()

	paths, err := filepath.Glob(filepath.Join("../..", r.folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".go")
		if strings.HasSuffix(name, "_test") || name == "doc" {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := source{name: name, set: token.NewFileSet(), raw: raw}
		if s.ast, err = parser.ParseFile(s.set, path, raw, parser.ParseComments); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// TestShortFiles checks the length of the files and functions of hook, and of all packages in rule
// and delivery. Tests and package comments may be longer.
func TestShortFiles(t *testing.T) {
	t.Parallel()

	folders := []string{"../../internal/hook"}
	for _, room := range []string{"../../internal/rule/*", "../../internal/delivery/*"} {
		more, err := filepath.Glob(room)
		if err != nil || len(more) < 10 {
			t.Fatalf("Glob(%s) = %v, %v; want at least 10 folders", room, more, err)
		}
		folders = append(folders, more...)
	}
	for _, folder := range folders {
		for _, s := range parse(t, room{folder: strings.TrimPrefix(folder, "../../")}) {
			if lines := bytes.Count(s.raw, []byte("\n")); lines > maxFile {
				t.Errorf("%s/%s.go has %d lines; want at most %d", folder, s.name, lines, maxFile)
			}
			for _, f := range functions(s.ast) {
				if lines := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1; lines > maxFunction {
					t.Errorf("%s of %s/%s.go has %d lines; want at most %d", f.Name.Name, folder, s.name, lines, maxFunction)
				}
			}
		}
	}
}

// TestTheWay_GoesDown checks that no file of the way calls a function of an earlier file of its
// package, and that the way lists exactly the files of its packages.
func TestTheWay_GoesDown(t *testing.T) {
	t.Parallel()

	for _, r := range way() {
		sources := parse(t, r)
		at := make(map[string]int) // function or method -> the number of its file
		for _, name := range r.files {
			if !slices.ContainsFunc(sources, func(s source) bool { return s.name == name }) {
				t.Errorf("%s has no file %s.go: remove it from the way", r.folder, name)
			}
		}
		for _, s := range sources {
			n := slices.Index(r.files, s.name)
			if n < 0 {
				t.Errorf("%s/%s.go is not on the way: add it at the place where a reader meets it", r.folder, s.name)
			}
			for _, f := range functions(s.ast) {
				at[f.Name.Name] = n
			}
		}
		for _, s := range sources {
			for _, f := range functions(s.ast) {
				for _, used := range uses(f) {
					if n, ours := at[used]; ours && n < slices.Index(r.files, s.name) {
						t.Errorf("%s of %s/%s.go calls %s of %s.go, which comes earlier on the way", f.Name.Name, r.folder, s.name, used, r.files[n])
					}
				}
			}
		}
	}
}

func functions(f *ast.File) (all []*ast.FuncDecl) {
	for _, d := range f.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			all = append(all, f)
		}
	}
	return all
}

// uses returns the names of the functions that the function calls, and of the methods of its own
// receiver. It leaves out methods of the receiver's fields, which belong to other packages.
func uses(f *ast.FuncDecl) (names []string) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			names = append(names, fun.Name)
		case *ast.SelectorExpr:
			if x, ok := fun.X.(*ast.Ident); ok && receiver(f) == x.Name {
				names = append(names, fun.Sel.Name)
			}
		}
		return true
	})
	return names
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
		return ""
	}
	return f.Recv.List[0].Names[0].Name
}

// maxCollaborators limits the interfaces that a reader of a use case must know.
const maxCollaborators = 8

// TestTheWay_FewCollaborators counts the interfaces that each use case has, directly or in structs of
// package delivery.
func TestTheWay_FewCollaborators(t *testing.T) {
	t.Parallel()

	for _, use := range []any{
		deliver.Deliverer{}, admit.Gate{}, attempt.Maker{}, settle.Settler{}, settle.Completion{}, admit.Releaser{}, breaker.Breaker{}, replay.Replayer{},
	} {
		if names := collaborators(reflect.TypeOf(use)); len(names) > maxCollaborators {
			t.Errorf("%T has the %d collaborators %v; want at most %d", use, len(names), names, maxCollaborators)
		}
	}
}

// collaborators returns the names of the fields of an interface type, including those of exported
// fields that are structs of a package below delivery.
func collaborators(of reflect.Type) (names []string) {
	for f := range of.Fields() {
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case kind.Kind() == reflect.Interface:
			names = append(names, f.Name)
		case kind.Kind() == reflect.Struct && strings.HasPrefix(kind.PkgPath(), "surehook.example/surehook/internal/delivery/") && f.IsExported():
			names = append(names, collaborators(kind)...)
		}
	}
	return names
}
