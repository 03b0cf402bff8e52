package shape

import (
	"iter"
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"
)

// MaxMemory is the most memory that one evaluation of maxSteps allocates, in bytes.
const MaxMemory = 64 << 20

// Bounds of an evaluation.
const (
	// maxSteps limits the work of one evaluation. Each evaluation of a node of the expression is
	// a step, and so is each element of a list or map that is copied or compared, and each
	// charactersPerStep characters of a text that is built, compared or searched. Steps are paid
	// for before they are done, so no operation takes more than what is left.
	maxSteps          = 250000
	charactersPerStep = 10
	// When keys are sorted, each is compared and hashed about this often.
	sorted = 16
	// An empty map takes as much memory as this many other values.
	mapSteps = 4
	// Parsing a decimal with more digits than a double has, or near the end of its range, may need
	// exact arithmetic.
	exactSteps = 200
	// While it works, an evaluation looks this often whether its caller still waits, in steps.
	lookSteps = 4096
)

// evaluation evaluates one expression once.
type evaluation struct {
	left    int // steps
	calls   calls
	done    <-chan struct{} // closed when the caller waits no longer; nil: never
	looked  int             // left at the last look at done
	stopped bool            // done was closed
}

// optional is a value that may be absent.
type optional struct {
	value any
	ok    bool
}

// spend pays for work.
func (v *evaluation) spend(steps int, at ast.Expr) {
	if v.left -= steps; v.left < 0 {
		panic(wrongAt(at, "takes too many steps for this event"))
	}
	if v.looked-v.left >= lookSteps {
		v.looked = v.left
		if v.stopped = closed(v.done); v.stopped {
			panic(wrongAt(at, "was stopped"))
		}
	}
}

// spendText pays for a text of so many bytes.
func (v *evaluation) spendText(bytes int, at ast.Expr) { v.spend(1+bytes/charactersPerStep, at) }

// spendValue pays for a text that is hashed, counted or parsed; other values are free.
func (v *evaluation) spendValue(value any, at ast.Expr) {
	if text, ok := value.(string); ok {
		v.spendText(len(text), at)
	}
}

// eval returns the value of the expression.
func (v *evaluation) eval(e ast.Expr, names *scope) any {
	v.spend(1, e)
	switch e.Kind() {
	case ast.LiteralKind:
		value, _ := literal(e)
		return value
	case ast.IdentKind:
		found, _ := names.find(e.AsIdent())
		return found.value
	case ast.SelectKind:
		return v.selected(e, names)
	case ast.CallKind:
		return v.call(e, names)
	case ast.ListKind:
		return v.list(e, names)
	case ast.MapKind:
		return v.object(e, names)
	case ast.StructKind, ast.ComprehensionKind, ast.UnspecifiedExprKind:
	}
	panic(wrongAt(e, "is not supported"))
}

// selected returns the field of a map, or of an optional map.
func (v *evaluation) selected(e ast.Expr, names *scope) any {
	name := e.AsSelect().FieldName()
	operand := v.eval(e.AsSelect().Operand(), names)
	if o, ok := operand.(optional); ok {
		return optionalField(o, name)
	}
	fields, ok := operand.(map[string]any)
	if !ok {
		panic(wrongAt(e, "%s has no field %s", typeOf(operand), name))
	}
	value, ok := fields[name]
	if !ok {
		panic(wrongAt(e, "no such key: %s", name))
	}
	return value
}

// optionalField returns the field of an optional map; absent if the map or the field is.
func optionalField(o optional, name string) optional {
	fields, ok := o.value.(map[string]any)
	if !o.ok || !ok {
		return optional{}
	}
	value, ok := fields[name]
	return optional{value: value, ok: ok}
}

func (v *evaluation) list(e ast.Expr, names *scope) any {
	list := make([]any, 0, e.AsList().Size())
	for i, element := range e.AsList().Elements() {
		if part := v.part(element, names, e.AsList().IsOptional(int32(i))); part.ok {
			list = append(list, part.value)
		}
	}
	return list
}

// part evaluates a part of a list or map. Only an optional part may be absent.
func (v *evaluation) part(e ast.Expr, names *scope, isOptional bool) optional {
	value := v.eval(e, names)
	if !isOptional {
		return optional{value: value, ok: true}
	}
	part, ok := value.(optional)
	if !ok {
		panic(wrongAt(e, "must be an optional value, such as event.data.?name"))
	}
	return part
}

func (v *evaluation) object(e ast.Expr, names *scope) any {
	v.spend(mapSteps, e)
	object := make(map[string]any, len(e.AsMap().Entries()))
	for _, entry := range e.AsMap().Entries() {
		pair := entry.AsMapEntry()
		key := v.eval(pair.Key(), names)
		if part := v.part(pair.Value(), names, pair.IsOptional()); part.ok {
			v.put(object, key, part.value, pair.Key())
		}
	}
	return object
}

// put adds an entry, whose key must be new.
func (v *evaluation) put(object map[string]any, key, value any, at ast.Expr) {
	v.spendValue(key, at)
	name, ok := key.(string)
	if !ok {
		panic(wrongAt(at, "keys of maps must be strings, and this is %s", typeOf(key)))
	}
	if _, twice := object[name]; twice {
		panic(wrongAt(at, "the map has this key twice"))
	}
	object[name] = value
}

// elements returns the elements of a list with their indexes, or the entries of a map in the order of
// the keys.
func (v *evaluation) elements(of any, at ast.Expr) iter.Seq2[any, any] {
	return func(yield func(key, value any) bool) {
		switch values := of.(type) {
		case []any:
			for i, value := range values {
				if v.spend(1, at); !yield(int64(i), value) {
					return
				}
			}
		case map[string]any:
			for _, key := range v.keys(values, at) {
				if v.spend(1, at); !yield(key, values[key]) {
					return
				}
			}
		default:
			panic(wrongAt(at, "must be a list or a map, and this is %s", typeOf(of)))
		}
	}
}

// keys pays for the keys of a map, and returns them in order.
func (v *evaluation) keys(of map[string]any, at ast.Expr) []string {
	for key := range of {
		v.spendText(sorted*len(key), at)
	}
	return slices.Sorted(maps.Keys(of))
}
