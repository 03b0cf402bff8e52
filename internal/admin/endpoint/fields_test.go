package endpoint_test

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/certificate"
)

// TestFields_applied sets each field alone, and sees an endpoint that differs from the default. A
// field that has the name and type of one of the endpoint needs no value here, because it is
// copied; the values below try those with more to it.
func TestFields_applied(t *testing.T) {
	t.Parallel()

	authority, _ := certificate.Authority(t, "receiver")
	given := endpoint.Fields{
		UID:         new("orders"),
		URL:         new("https://example.com/other"),
		Headers:     &map[string]string{"X-Api-Key": "key"},
		Auth:        &hook.Auth{Type: hook.AuthBearer, Secret: "token"},
		TLS:         &hook.Material{CA: authority},
		Shards:      new(4),
		Profiles:    &[]string{hook.ProfileClassic},
		Egress:      new(hook.EgressFixed),
		Destination: &hook.Destination{Type: "sqs", Settings: map[string]string{"role_arn": "arn:aws:iam::111122223333:role/surehook/orders"}},
		Circuit: endpoint.CircuitFields{
			Failures: new(7), Rate: new(0.7), Minimum: new(17), Cooldown: new(time.Minute), MaxCooldown: new(2 * time.Hour),
		},
	}
	create := func(edit func(*endpoint.Fields)) hook.Endpoint {
		b := setup(t)
		b.Origins = endpoint.Origins{Regions: []string{"us-east-1"}, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
		b.Destinations = hook.Destinations{RolePath: "/surehook/", Account: "444455556666"}
		e, _ := b.create(t, edit)
		return e
	}
	plain := create(nil)
	ignored := cmpopts.IgnoreFields(hook.Endpoint{}, "ID", "Secrets", "TenantVersion")

	only := func(from reflect.Value, path ...int) {
		var f endpoint.Fields
		field := reflect.TypeFor[endpoint.Fields]().FieldByIndex(path)
		reflect.ValueOf(&f).Elem().FieldByIndex(path).Set(from)
		if from.IsNil() {
			if same, ok := reflect.TypeFor[hook.Endpoint]().FieldByName(field.Name); len(path) > 1 || !ok || !same.Type.ConvertibleTo(field.Type.Elem()) {
				t.Errorf("give %s a value here", field.Name)
			}
			return
		}
		if field.Name == "Destination" {
			f.URL = new("https://sqs.eu-west-1.amazonaws.com/111122223333/orders")
		}
		e := create(func(all *endpoint.Fields) {
			if f.URL == nil {
				f.URL = all.URL
			}
			*all = f
		})
		if field.Name == "Destination" {
			e.URL = plain.URL
		}
		if cmp.Equal(plain, e, ignored, cmpopts.EquateEmpty()) {
			t.Errorf("an endpoint with %s is like one without", field.Name)
		}
	}
	fields := reflect.ValueOf(given)
	for i := range fields.NumField() {
		switch name := fields.Type().Field(i).Name; name {
		case "Wrong": // no setting
		case "Circuit":
			for j := range fields.Field(i).NumField() {
				only(fields.Field(i).Field(j), i, j)
			}
		default:
			only(fields.Field(i), i)
		}
	}
}
