package shape

import (
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
func (v *evaluation) spend(steps int, at ast.Expr) *fault {
	if v.left -= steps; v.left < 0 {
		return wrongAt(at, "takes too many steps for this event")
	}
	if v.looked-v.left >= lookSteps {
		v.looked = v.left
		if v.stopped = closed(v.done); v.stopped {
			return wrongAt(at, "was stopped")
		}
	}
	return nil
}

// spendText pays for a text of so many bytes.
func (v *evaluation) spendText(bytes int, at ast.Expr) *fault {
	return v.spend(1+bytes/charactersPerStep, at)
}

// spendValue pays for a text that is hashed, counted or parsed; other values are free.
func (v *evaluation) spendValue(value any, at ast.Expr) *fault {
	if text, ok := value.(string); ok {
		return v.spendText(len(text), at)
	}
	return nil
}

// eval returns the value of the expression.
func (v *evaluation) eval(e ast.Expr, names *scope) (any, *fault) {
	if f := v.spend(1, e); f != nil {
		return nil, f
	}
	switch e.Kind() {
	case ast.LiteralKind:
		value, _ := literal(e)
		return value, nil
	case ast.IdentKind:
		found, _ := names.find(e.AsIdent())
		return found.value, nil
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
	return nil, wrongAt(e, "is not supported")
}

// selected returns the field of a map, or of an optional map.
func (v *evaluation) selected(e ast.Expr, names *scope) (any, *fault) {
	name := e.AsSelect().FieldName()
	operand, f := v.eval(e.AsSelect().Operand(), names)
	if f != nil {
		return nil, f
	}
	if o, ok := operand.(optional); ok {
		return optionalField(o, name), nil
	}
	fields, ok := operand.(map[string]any)
	if !ok {
		return nil, wrongAt(e, "%s has no field %s", typeOf(operand), name)
	}
	value, ok := fields[name]
	if !ok {
		return nil, wrongAt(e, "no such key: %s", name)
	}
	return value, nil
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

func (v *evaluation) list(e ast.Expr, names *scope) (any, *fault) {
	list := make([]any, 0, e.AsList().Size())
	for i, element := range e.AsList().Elements() {
		value, f := v.eval(element, names)
		if f != nil {
			return nil, f
		}
		present := true
		if e.AsList().IsOptional(int32(i)) {
			if value, present, f = unpacked(value, element); f != nil {
				return nil, f
			}
		}
		if present {
			list = append(list, value)
		}
	}
	return list, nil
}

// unpacked returns the value of an optional, and whether it is present.
func unpacked(value any, at ast.Expr) (any, bool, *fault) {
	o, ok := value.(optional)
	if !ok {
		return nil, false, wrongAt(at, "must be an optional value, such as event.data.?name")
	}
	return o.value, o.ok, nil
}

func (v *evaluation) object(e ast.Expr, names *scope) (any, *fault) {
	if f := v.spend(mapSteps, e); f != nil {
		return nil, f
	}
	object := make(map[string]any, len(e.AsMap().Entries()))
	for _, entry := range e.AsMap().Entries() {
		pair := entry.AsMapEntry()
		key, f := v.eval(pair.Key(), names)
		if f != nil {
			return nil, f
		}
		value, f := v.eval(pair.Value(), names)
		if f != nil {
			return nil, f
		}
		present := true
		if pair.IsOptional() {
			if value, present, f = unpacked(value, pair.Value()); f != nil {
				return nil, f
			}
		}
		if !present {
			continue
		}
		if f := v.put(object, key, value, pair.Key()); f != nil {
			return nil, f
		}
	}
	return object, nil
}

// put adds an entry, whose key must be new.
func (v *evaluation) put(object map[string]any, key, value any, at ast.Expr) *fault {
	if f := v.spendValue(key, at); f != nil {
		return f
	}
	name, ok := key.(string)
	if !ok {
		return wrongAt(at, "keys of maps must be strings, and this is %s", typeOf(key))
	}
	if _, twice := object[name]; twice {
		return wrongAt(at, "the map has this key twice")
	}
	object[name] = value
	return nil
}

// fold calls do for each element of a list with its index, or for each entry of a map in the
// order of the keys.
func (v *evaluation) fold(of any, at ast.Expr, do func(key, value any) (done bool, f *fault)) *fault {
	switch values := of.(type) {
	case []any:
		for i, value := range values {
			if done, f := v.foldOne(int64(i), value, at, do); done || f != nil {
				return f
			}
		}
		return nil
	case map[string]any:
		keys, f := v.keys(values, at)
		if f != nil {
			return f
		}
		for _, key := range keys {
			if done, f := v.foldOne(key, values[key], at, do); done || f != nil {
				return f
			}
		}
		return nil
	}
	return wrongAt(at, "must be a list or a map, and this is %s", typeOf(of))
}

// keys pays for the keys of a map, and returns them in order.
func (v *evaluation) keys(of map[string]any, at ast.Expr) ([]string, *fault) {
	for key := range of {
		if f := v.spendText(sorted*len(key), at); f != nil {
			return nil, f
		}
	}
	return slices.Sorted(maps.Keys(of)), nil
}

func (v *evaluation) foldOne(key, value any, at ast.Expr, do func(key, value any) (bool, *fault)) (bool, *fault) {
	if f := v.spend(1, at); f != nil {
		return true, f
	}
	return do(key, value)
}
