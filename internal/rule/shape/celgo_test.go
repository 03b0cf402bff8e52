package shape_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
)

// Both must return the same result for each expression, or both an error.
func TestShape_evaluatesAsCELGo(t *testing.T) {
	t.Parallel()

	env, err := cel.NewEnv(
		cel.OptionalTypes(), ext.Bindings(), ext.TwoVarComprehensions(), ext.Encoders(), ext.Strings(),
		cel.Variable("event", cel.DynType), cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true),
	)
	if err != nil {
		t.Fatal(err)
	}
	const data = `{"s": "Ada é", "i": 7, "n": -3, "d": 2.5, "t": true, "z": null, "l": [3, 1, 2], "m": {"a": 1, "b": {"c": "x"}}, "e": [], "w": ["a", "b"]}`
	var s shape.Shaper
	for _, expression := range []string{
		`event.data.s`, `event.data.m.b.c`, `event.data["m"]["a"]`, `event.data.l[1]`, `event.data.l[9]`, `event.data.x`, `event.data.s.x`, `event.data.l.x`,
		`1 + 2`, `event.data.i + 1`, `event.data.i + event.data.d`, `event.data.d * 2.0`, `event.data.i / 2`, `event.data.n / 2`, `event.data.n % 2`, `7 / 0`, `7 % 0`, `-event.data.i`,
		`9223372036854775807 + event.data.i`, `-9223372036854775807 - event.data.i`, `9223372036854775807 * event.data.i`, `1u - 2u`, `18446744073709551615u + 1u`, `event.data.d / 0.0 > 1.0`,
		`"a" + event.data.s`, `event.data.l + [4]`, `event.data.l + "x"`, `event.data.s + 1`, `"a" * 2`, `-"a"`, `!event.data.t`, `!event.data.i`,
		`event.data.i == 7`, `event.data.i == 7.0`, `event.data.i == "7"`, `event.data.z == null`, `event.data.l == [3, 1, 2]`, `event.data.l == [3, 1, 2.0]`, `event.data.m == {"b": {"c": "x"}, "a": 1u}`,
		`event.data.m != {"a": 1}`, `event.data.i > 6.5`, `event.data.i < 8u`, `event.data.n < 1u`, `"a" < "b"`, `event.data.s < 1`, `event.data.t > false`, `[1] < [2]`,
		`1 in event.data.l`, `1.0 in event.data.l`, `"x" in event.data.l`, `"a" in event.data.m`, `1 in event.data.m`, `"a" in event.data.s`,
		`event.data.t ? 1 : 2`, `event.data.t && event.data.i == 7`, `false || event.data.t`, `false && event.data.x`, `true || event.data.x`,
		`has(event.data.s)`, `has(event.data.x)`, `has(event.data.m.b.c)`, `has(event.data.m.x.c)`,
		`event.data.l.map(x, x * 2)`, `event.data.l.map(x, x > 1, x)`, `event.data.l.filter(x, x > 1)`, `event.data.l.all(x, x > 0)`, `event.data.l.exists(x, x > 2)`, `event.data.l.exists_one(x, x > 1)`,
		`event.data.e.all(x, x > 0)`, `event.data.e.exists(x, x > 0)`, `event.data.m.exists(k, k == "b")`, `event.data.l.map(x, event.data.l.map(y, x + y))`, `event.data.s.map(x, x)`,
		`event.data.l.transformList(i, v, i * v)`, `{"a": 1}.transformMap(k, v, v + 1)`, `cel.bind(x, event.data.i, x + x)`, `cel.bind(x, 1, cel.bind(x, x + 1, x))`,
		`event.data.?s.orValue("-")`, `event.data.?x.orValue("-")`, `event.data.?x.y.z.orValue(1)`, `event.data.?m.b.c.orValue(1)`, `event.data.?x.hasValue()`, `event.data.l[?7].orValue(0)`, `event.data.?x.value()`,
		`[?event.data.?x, ?event.data.?i]`, `{?"a": event.data.?x, ?"b": event.data.?i}`, `optional.of(1).orValue(2)`, `optional.none().orValue(2)`, `[?event.data.i]`,
		`size(event.data.s)`, `event.data.s.size()`, `size(event.data.l)`, `size(event.data.m)`, `size(1)`,
		`string(1)`, `string(1u)`, `string(true)`, `string(2.5)`, `string(1.0)`, `string(1e21)`, `string("a")`, `string([1])`, `int("12")`, `int("x")`, `int(2.9)`, `int(-2.9)`, `int(1e19)`, `uint(3)`, `uint(-3)`, `uint("4")`,
		`double("1.5")`, `double(3)`, `bool("true")`, `bool("maybe")`, `int(timestamp("2026-01-01T00:00:00Z"))`, `timestamp("x")`, `timestamp("2026-01-01T00:00:00Z") < timestamp("2026-01-01T00:00:00+01:00")`,
		`event.data.s.contains("da")`, `event.data.s.startsWith("Ad")`, `event.data.s.endsWith("é")`, `event.data.s.contains(1)`, `event.data.w.join("-")`, `event.data.w.join()`, `event.data.l.join("-")`,
		`"a,b,,c".split(",")`, `"é1".split("")`, `"aXbX".replace("X", "--")`, `"ab".replace("", "-")`, `event.data.s.substring(1)`, `event.data.s.substring(1, 3)`, `"é".substring(0, 1)`, `event.data.s.substring(3, 1)`,
		`"  a ".trim()`, `"ÄbC".lowerAscii()`, `"äbc".upperAscii()`, `base64.encode(b"a")`, `{"b": 1, "a": [null, {}]}`,
	} {
		want, wantErr := celGo(t, env, expression, data)
		ours := strings.ReplaceAll(expression, `b"a"`, `"a"`) // this package has no bytes
		got, err := s.Shape(nil, &hook.Endpoint{Transformation: `{"body": [` + ours + `]}`}, event(data))
		if (err != nil) != (wantErr != nil) {
			t.Errorf("%s = %s, %v; cel-go: %s, %v", expression, got.Body, err, want, wantErr)
		} else if err == nil && string(got.Body) != want {
			t.Errorf("%s = %s; cel-go: %s", expression, got.Body, want)
		}
	}
}

// celGo returns the result of cel-go in a list, as JSON with sorted keys.
func celGo(t *testing.T, env *cel.Env, expression, data string) (string, error) {
	t.Helper()

	program, issues := env.Compile(`[` + expression + `]`)
	if issues.Err() != nil {
		return "", issues.Err()
	}
	runnable, err := env.Program(program)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(data))
	decoder.UseNumber()
	var parsed map[string]any
	if err := decoder.Decode(&parsed); err != nil {
		t.Fatal(err)
	}
	result, _, err := runnable.Eval(map[string]any{"event": map[string]any{"data": whole(parsed)}})
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(native(t, result))
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// whole returns the value with whole numbers as int64 and all others as float64.
func whole(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	}
	return value
}

// native returns a cel-go value as encoding/json would decode it.
func native(t *testing.T, value ref.Val) any {
	t.Helper()

	switch v := value.(type) {
	case traits.Mapper:
		object := make(map[string]any)
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				t.Fatalf("key %v", key)
			}
			object[string(name)] = native(t, v.Get(key))
		}
		return object
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			list = append(list, native(t, it.Next()))
		}
		return list
	case types.Null:
		return nil
	}
	return value.Value()
}
