package remote_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// TestTravel fails for a new field that does not travel to a sender elsewhere, or back.
func TestTravel(t *testing.T) {
	t.Parallel()

	var prepared send.Prepared
	fill(t, reflect.ValueOf(&prepared).Elem())
	arrived, err := remote.Travel(prepared)
	if diff := cmp.Diff(prepared, arrived); diff != "" || err != nil {
		t.Errorf("request: %v, (-prepared +arrived):\n%s", err, diff)
	}

	var outcome hook.Outcome
	fill(t, reflect.ValueOf(&outcome).Elem())
	returned, err := remote.Return(outcome)
	signers := cmpopts.IgnoreFields(hook.Outcome{}, "Region", "Duration", "Shape", "Batch") // the signer knows them
	if diff := cmp.Diff(outcome, returned, signers); diff != "" || err != nil {
		t.Errorf("outcome: %v, (-made +returned):\n%s", err, diff)
	}
}

// fill gives each field a value other than zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()

	switch v.Interface().(type) {
	case time.Duration:
		v.SetInt(int64(time.Minute))
		return
	case hook.Class:
		v.Set(reflect.ValueOf(hook.ClassTimeout))
		return
	case http.Header:
		v.Set(reflect.ValueOf(http.Header{"Name": {"value"}}))
		return
	}
	switch v.Kind() { //nolint:exhaustive // the others fail the test
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Uint8:
		v.SetUint('x')
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"name": "value"}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	default:
		t.Fatalf("no value for a field of type %s: add its kind", v.Type())
	}
}
