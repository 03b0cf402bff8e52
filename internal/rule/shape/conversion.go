package shape

import (
	"strconv"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// toJSON leaves a number of the payload as it is.
func toJSON(v *evaluation, c *call, args []any) (any, *fault) {
	if f := v.spendValue(args[0], c.at); f != nil {
		return nil, f
	}
	w := writer{v: v, at: c.at}
	if err := w.write(args[0], 0); err != nil {
		return nil, wrongAt(c.at, "json: %s", err)
	}
	return string(w.text), nil
}

func toString(_ *evaluation, c *call, args []any) (any, *fault) {
	switch of := args[0].(type) {
	case string:
		return of, nil
	case bool:
		return strconv.FormatBool(of), nil
	case int64:
		return strconv.FormatInt(of, 10), nil
	case uint64:
		return strconv.FormatUint(of, 10), nil
	case float64:
		return strconv.FormatFloat(of, 'g', -1, 64), nil
	case time.Time:
		return stamp(of), nil
	}
	return nil, notConverted(c.at, args[0])
}

func notConverted(at ast.Expr, value any) *fault {
	return wrongAt(at, "%s cannot be converted to %s", typeOf(value), at.AsCall().FunctionName())
}

// converted returns the conversion to a type of numbers, as in CEL: of a double to its whole part,
// and of a time to seconds.
func converted(to ref.Type) func(v *evaluation, c *call, args []any) (any, *fault) {
	return func(v *evaluation, c *call, args []any) (any, *fault) {
		if _, isText := args[0].(string); isText && to == types.DoubleType {
			if f := v.spend(exactSteps, c.at); f != nil {
				return nil, f
			}
		}
		if result := celOf(args[0]).ConvertToType(to); !types.IsError(result) {
			return result.Value(), nil
		}
		return nil, notConverted(c.at, args[0])
	}
}

func toBool(_ *evaluation, c *call, args []any) (any, *fault) {
	switch args[0] {
	case true, "true":
		return true, nil
	case false, "false":
		return false, nil
	}
	return nil, notConverted(c.at, args[0])
}

func toTime(_ *evaluation, c *call, args []any) (any, *fault) {
	text, _ := args[0].(string)
	at, err := time.Parse(time.RFC3339, text)
	if year := at.UTC().Year(); err != nil || year < 1 || year > 9999 { // RFC 3339 has only these years
		return nil, notConverted(c.at, args[0])
	}
	return at, nil
}
