package shape

import (
	"math"
	"strconv"
	"time"

	"github.com/google/cel-go/common/ast"
)

func toJSON(v *evaluation, c *call, args []any) (any, *fault) {
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

// toInt converts whole numbers, doubles (to their whole part), texts, and times (to seconds).
func toInt(_ *evaluation, c *call, args []any) (any, *fault) {
	switch of := args[0].(type) {
	case int64:
		return of, nil
	case uint64:
		if of <= math.MaxInt64 {
			return int64(of), nil
		}
	case float64:
		if of > -1<<63 && of < 1<<63 {
			return int64(of), nil
		}
	case string:
		if n, err := strconv.ParseInt(of, 10, 64); err == nil {
			return n, nil
		}
	case time.Time:
		return of.Unix(), nil
	}
	return nil, notConverted(c.at, args[0])
}

func toUint(_ *evaluation, c *call, args []any) (any, *fault) {
	switch of := args[0].(type) {
	case uint64:
		return of, nil
	case int64:
		if of >= 0 {
			return uint64(of), nil
		}
	case float64:
		if of >= 0 && of < 1<<64 {
			return uint64(of), nil
		}
	case string:
		if n, err := strconv.ParseUint(of, 10, 64); err == nil {
			return n, nil
		}
	}
	return nil, notConverted(c.at, args[0])
}

func toDouble(v *evaluation, c *call, args []any) (any, *fault) {
	if n, ok := double(args[0]); ok {
		return n, nil
	}
	if text, ok := args[0].(string); ok {
		if f := v.spend(exactSteps, c.at); f != nil {
			return nil, f
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n, nil
		}
	}
	return nil, notConverted(c.at, args[0])
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
