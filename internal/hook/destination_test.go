package hook_test

import (
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

const (
	ordersQueue = "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"
	ordersBus   = "arn:aws:events:eu-west-1:111122223333:event-bus/orders"
	ordersRole  = "arn:aws:iam::111122223333:role/surehook/orders"
)

// destined returns a valid endpoint with the destination.
func destined(to hook.DestinationType) hook.Endpoint {
	e := hook.Endpoint{
		URL: ordersQueue, Shards: 1, EventTypes: []string{"*"}, Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge, Profiles: hook.ProfilesNamed(hook.ProfileStandard), Schemes: []hook.Scheme{hook.SchemeV1},
		Destination: hook.Destination{Type: to, RoleARN: ordersRole, ExternalID: "x"},
	}
	if to == hook.DestinationEventBridge {
		e.URL, e.Destination.Source = ordersBus, "com.example.shop"
	}
	return e
}

func TestValidateEndpoint_destination(t *testing.T) {
	t.Parallel()

	const sqs, bus = hook.DestinationSQS, hook.DestinationEventBridge
	url := func(url string) func(*hook.Endpoint) { return func(e *hook.Endpoint) { e.URL = url } }
	role := func(arn string) func(*hook.Endpoint) { return func(e *hook.Endpoint) { e.Destination.RoleARN = arn } }
	source := func(s string) func(*hook.Endpoint) { return func(e *hook.Endpoint) { e.Destination.Source = s } }
	tests := []struct {
		name string
		to   hook.DestinationType
		edit func(*hook.Endpoint)
		want string // fields
	}{
		{name: "a queue", to: sqs},
		{name: "a queue in China", to: sqs, edit: url("https://sqs.cn-north-1.amazonaws.com.cn/111122223333/orders")},
		{name: "a queue in GovCloud", to: sqs, edit: url("https://sqs.us-gov-west-1.amazonaws.com/111122223333/orders")},
		{name: "a queue with the longest name", to: sqs, edit: url("https://sqs.eu-west-1.amazonaws.com/111122223333/" + strings.Repeat("q", 80))},
		{name: "a queue with a name that is too long", to: sqs, edit: url("https://sqs.eu-west-1.amazonaws.com/111122223333/" + strings.Repeat("q", 81)), want: "url"},
		{name: "no url", to: sqs, edit: url(""), want: "url"},
		{name: "a FIFO queue", to: sqs, edit: url(ordersQueue + ".fifo"), want: "url"},
		{name: "a host outside AWS", to: sqs, edit: url("https://sqs.eu-west-1.amazonaws.com.evil.example/111122223333/orders"), want: "url"},
		{name: "a host in place of the region", to: sqs, edit: url("https://sqs.evil.example/eu-west-1.amazonaws.com/111122223333/orders"), want: "url"},
		{name: "a queue without TLS", to: sqs, edit: url("http://sqs.eu-west-1.amazonaws.com/111122223333/orders"), want: "url"},
		{name: "a line break after the url", to: sqs, edit: url(ordersQueue + "\n"), want: "url"},
		{name: "an account of 11 digits", to: sqs, edit: url("https://sqs.eu-west-1.amazonaws.com/11112222333/orders"), want: "url"},
		{name: "a queue by its ARN", to: sqs, edit: url("arn:aws:sqs:eu-west-1:111122223333:orders"), want: "url"},
		{name: "a bus in place of a queue", to: sqs, edit: url(ordersBus), want: "url"},
		{name: "no role", to: sqs, edit: role(""), want: "destination.role_arn"},
		{name: "a role without a path", to: sqs, edit: role("arn:aws:iam::111122223333:role/orders")},
		{name: "a user in place of a role", to: sqs, edit: role("arn:aws:iam::111122223333:user/orders"), want: "destination.role_arn"},
		{name: "a role with a wildcard", to: sqs, edit: role("arn:aws:iam::111122223333:role/surehook/*"), want: "destination.role_arn"},
		{name: "a role with a path that is too long", to: sqs, edit: role("arn:aws:iam::111122223333:role/" + strings.Repeat("p", 610) + "/orders"), want: "destination.role_arn"},
		{name: "a source for a queue", to: sqs, edit: source("com.example"), want: "destination.source"},

		{name: "a bus", to: bus},
		{name: "a queue in place of a bus", to: bus, edit: url(ordersQueue), want: "url"},
		{name: "a bus by its name", to: bus, edit: url("orders"), want: "url"},
		{name: "a rule in place of a bus", to: bus, edit: url("arn:aws:events:eu-west-1:111122223333:rule/orders"), want: "url"},
		{name: "no source", to: bus, edit: source(""), want: "destination.source"},
		{name: "a source with a space", to: bus, edit: source("com example"), want: "destination.source"},
		{name: "the longest source", to: bus, edit: source(strings.Repeat("s", 256))},
		{name: "a source that is too long", to: bus, edit: source(strings.Repeat("s", 257)), want: "destination.source"},
		{name: "a source that is reserved for AWS", to: bus, edit: source("aws.s3"), want: "destination.source"},
		{name: "a source that begins with aws, but not with a dot after it", to: bus, edit: source("awsome")},
		{name: "the largest requests of a bus", to: bus, edit: func(e *hook.Endpoint) {
			e.Coalesce = hook.Coalescing{Window: hook.MinCoalesceWindow, MaxBytes: 256 << 10}.WithDefaults()
		}},
		{name: "requests that are too large for a bus", to: bus, edit: func(e *hook.Endpoint) {
			e.Coalesce = hook.Coalescing{Window: hook.MinCoalesceWindow, MaxBytes: 256<<10 + 1}.WithDefaults()
		}, want: "coalesce.max_bytes"},
		{name: "the largest requests of a queue", to: sqs, edit: func(e *hook.Endpoint) {
			e.Coalesce = hook.Coalescing{Window: hook.MinCoalesceWindow, MaxBytes: hook.MaxCoalesceBytes}.WithDefaults()
		}},

		{name: "headers", to: sqs, edit: func(e *hook.Endpoint) { e.Headers = map[string]string{"X-A": "a"} }, want: "headers"},
		{name: "stored headers", to: sqs, edit: func(e *hook.Endpoint) { e.SealedHeaders = map[string][]byte{"X-A": {1}} }, want: "headers"},
		{name: "an authentication", to: sqs, edit: func(e *hook.Endpoint) { e.Auth = hook.Auth{Type: hook.AuthBearer, Sealed: []byte{1}} }, want: "auth"},
		{name: "TLS settings", to: bus, edit: func(e *hook.Endpoint) { e.TLS.ID = "t" }, want: "tls"},
		{name: "a region", to: sqs, edit: func(e *hook.Endpoint) { e.Region = "us-east-1" }, want: "region"},
		{name: "fixed addresses", to: sqs, edit: func(e *hook.Endpoint) { e.Fixed = true }, want: "egress"},
		{name: "profile classic", to: sqs, edit: func(e *hook.Endpoint) { e.Profiles = hook.ProfilesNamed(hook.ProfileClassic) }, want: "signature_profiles"},

		{name: "a role for http", to: hook.DestinationHTTP, want: "destination.role_arn"},
		{name: "a source for http", to: hook.DestinationHTTP, edit: func(e *hook.Endpoint) { e.Destination = hook.Destination{Source: "s"} }, want: "destination.source"},
		{name: "http with the external id of an earlier queue", to: hook.DestinationHTTP, edit: func(e *hook.Endpoint) { e.Destination = hook.Destination{ExternalID: "x"} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := destined(tt.to)
			if tt.edit != nil {
				tt.edit(&e)
			}
			var got []string
			for _, wrong := range hook.ValidateEndpoint(e) {
				got = append(got, wrong.Field)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("ValidateEndpoint names %v; want %q", got, tt.want)
			}
		})
	}
}

func TestDestinations_Check(t *testing.T) {
	t.Parallel()

	on := hook.Destinations{RolePath: "/surehook/", Account: "999988887777"}
	tests := []struct {
		name string
		d    hook.Destinations
		to   hook.DestinationType
		edit func(*hook.Endpoint)
		want []string
	}{
		{name: "a queue", d: on, to: hook.DestinationSQS},
		{name: "a bus", d: on, to: hook.DestinationEventBridge},
		{name: "a queue without the setting", to: hook.DestinationSQS, want: []string{"destination.type"}},
		{name: "http without the setting", to: hook.DestinationHTTP},
		{name: "a role deeper below the path", d: on, to: hook.DestinationSQS, edit: func(e *hook.Endpoint) { e.Destination.RoleARN = "arn:aws:iam::111122223333:role/surehook/prod/orders" }},
		{name: "a role with another path", d: on, to: hook.DestinationSQS, edit: func(e *hook.Endpoint) { e.Destination.RoleARN = "arn:aws:iam::111122223333:role/surehook-2/orders" }, want: []string{"destination.role_arn"}},
		{name: "a role with the name of the path", d: on, to: hook.DestinationSQS, edit: func(e *hook.Endpoint) { e.Destination.RoleARN = "arn:aws:iam::111122223333:role/surehook" }, want: []string{"destination.role_arn"}},
		{name: "a queue in Surehook's account", d: on, to: hook.DestinationSQS, edit: func(e *hook.Endpoint) { e.URL = "https://sqs.us-east-1.amazonaws.com/999988887777/live" }, want: []string{"url"}},
		{name: "a bus in Surehook's account", d: on, to: hook.DestinationEventBridge, edit: func(e *hook.Endpoint) { e.URL = "arn:aws:events:us-east-1:999988887777:event-bus/default" }, want: []string{"url"}},
		{name: "a role in Surehook's account", d: on, to: hook.DestinationSQS, edit: func(e *hook.Endpoint) { e.Destination.RoleARN = "arn:aws:iam::999988887777:role/surehook/orders" }, want: []string{"destination.role_arn"}},
		{name: "a queue in another account than the role", d: on, to: hook.DestinationSQS, edit: func(e *hook.Endpoint) { e.URL = "https://sqs.us-east-1.amazonaws.com/444455556666/orders" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := destined(tt.to)
			if tt.edit != nil {
				tt.edit(&e)
			}
			var got []string
			for _, wrong := range tt.d.Check(&e) {
				got = append(got, wrong.Field)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Check names %v; want %v", got, tt.want)
			}
		})
	}
}
