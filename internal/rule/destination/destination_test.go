package destination_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
)

const (
	ordersQueue = "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"
	ordersBus   = "arn:aws:events:eu-west-1:111122223333:event-bus/orders"
	queue, bus  = destination.SQS, destination.EventBridge
	fifo, topic = destination.SQSFIFO, destination.SNS
	stream      = destination.Kinesis
)

// destined returns a valid endpoint with a destination of the type: the examples of its errors.
func destined(to hook.DestinationType) *hook.Endpoint {
	e := &hook.Endpoint{
		URL: "https://example.com/", Shards: 1, EventTypes: []string{"*"}, Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge, Profiles: hook.ProfilesNamed(hook.ProfileStandard), Schemes: []hook.Scheme{hook.SchemeV1},
		Destination: hook.Destination{Type: to, Settings: map[string]string{}, ExternalID: "x"},
	}
	if t, _ := destination.Of(e); t.Resource != nil {
		e.URL = t.Example
		for _, s := range t.Settings {
			e.Destination.Settings[s.Name] = s.Example
		}
	}
	return e
}

// setting returns an edit of a setting; an empty value removes it.
func setting(name, value string) func(*hook.Endpoint) {
	return func(e *hook.Endpoint) {
		if e.Destination.Settings[name] = value; value == "" {
			delete(e.Destination.Settings, name)
		}
	}
}

func fieldsOf(wrong []hook.FieldError) string {
	var all []string
	for _, w := range wrong {
		all = append(all, w.Field)
	}
	return strings.Join(all, " ")
}

// Every type is listed once, with settings of its own names, and takes what its errors show as
// examples.
func TestTypes(t *testing.T) {
	t.Parallel()

	seen := map[hook.DestinationType]bool{}
	for _, to := range destination.Types() {
		e := destined(to.Name)
		if wrong := append(hook.ValidateEndpoint(*e), destination.Validate(e)...); len(wrong) > 0 {
			t.Errorf("the example of %s is wrong: %v", to.Name, wrong)
		}
		if seen[to.Name] {
			t.Errorf("%s is listed twice", to.Name)
		}
		seen[to.Name] = true
		for _, s := range to.Settings {
			if s.Name == "type" || s.Name == "external_id" {
				t.Errorf("%s has a setting %s, which is a field of all types", to.Name, s.Name)
			}
		}
		if to.Resource == nil {
			continue
		}
		if region, account := to.Address(to.Example); region != "eu-west-1" || account != "111122223333" {
			t.Errorf("the example of %s is in region %q and account %q", to.Name, region, account)
		}
		delete(e.Destination.Settings, destination.GroupBy)
		e.Coalesce = hook.Coalescing{Window: hook.MinCoalesceWindow, MaxBytes: to.MaxCoalesceBytes}.WithDefaults()
		if wrong := destination.Validate(e); len(wrong) > 0 {
			t.Errorf("the largest requests of %s are wrong: %v", to.Name, wrong)
		}
		e.Coalesce.MaxBytes++
		if got := fieldsOf(destination.Validate(e)); got != "coalesce.max_bytes" {
			t.Errorf("requests that are too large for %s: wrong is %q", to.Name, got)
		}
		e = destined(to.Name)
		e.Destination.Settings["unheard"] = "x"
		if got := fieldsOf(destination.Validate(e)); got != "destination.unheard" {
			t.Errorf("an unknown setting of %s: wrong is %q", to.Name, got)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()

	url := func(url string) func(*hook.Endpoint) { return func(e *hook.Endpoint) { e.URL = url } }
	role := func(arn string) func(*hook.Endpoint) { return setting(destination.RoleARN, arn) }
	group := func(path string) func(*hook.Endpoint) { return setting(destination.GroupBy, path) }
	coalescing := func(e *hook.Endpoint) { e.Coalesce = hook.Coalescing{Window: hook.MinCoalesceWindow}.WithDefaults() }
	source := func(s string) func(*hook.Endpoint) { return setting(destination.Source, s) }
	tests := []struct {
		name string
		to   hook.DestinationType
		edit func(*hook.Endpoint)
		want string // fields
	}{
		{name: "a queue", to: queue},
		{name: "a queue in China", to: queue, edit: url("https://sqs.cn-north-1.amazonaws.com.cn/111122223333/orders")},
		{name: "a queue in GovCloud", to: queue, edit: url("https://sqs.us-gov-west-1.amazonaws.com/111122223333/orders")},
		{name: "a queue with the longest name", to: queue, edit: url("https://sqs.eu-west-1.amazonaws.com/111122223333/" + strings.Repeat("q", 80))},
		{name: "a queue with a name that is too long", to: queue, edit: url("https://sqs.eu-west-1.amazonaws.com/111122223333/" + strings.Repeat("q", 81)), want: "url"},
		{name: "no url, which package hook reports", to: queue, edit: url("")},
		{name: "a FIFO queue", to: queue, edit: url(ordersQueue + ".fifo"), want: "url"},
		{name: "a host outside AWS", to: queue, edit: url("https://sqs.eu-west-1.amazonaws.com.evil.example/111122223333/orders"), want: "url"},
		{name: "a host in place of the region", to: queue, edit: url("https://sqs.evil.example/eu-west-1.amazonaws.com/111122223333/orders"), want: "url"},
		{name: "a queue without TLS", to: queue, edit: url("http://sqs.eu-west-1.amazonaws.com/111122223333/orders"), want: "url"},
		{name: "a line break after the url", to: queue, edit: url(ordersQueue + "\n"), want: "url"},
		{name: "an account of 11 digits", to: queue, edit: url("https://sqs.eu-west-1.amazonaws.com/11112222333/orders"), want: "url"},
		{name: "a queue by its ARN", to: queue, edit: url("arn:aws:sqs:eu-west-1:111122223333:orders"), want: "url"},
		{name: "a bus in place of a queue", to: queue, edit: url(ordersBus), want: "url"},
		{name: "no role", to: queue, edit: role(""), want: "destination.role_arn"},
		{name: "a role without a path", to: queue, edit: role("arn:aws:iam::111122223333:role/orders")},
		{name: "a user in place of a role", to: queue, edit: role("arn:aws:iam::111122223333:user/orders"), want: "destination.role_arn"},
		{name: "a role with a wildcard", to: queue, edit: role("arn:aws:iam::111122223333:role/surehook/*"), want: "destination.role_arn"},
		{name: "a role with a path that is too long", to: queue, edit: role("arn:aws:iam::111122223333:role/" + strings.Repeat("p", 610) + "/orders"), want: "destination.role_arn"},
		{name: "a source for a queue", to: queue, edit: source("com.example"), want: "destination.source"},

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

		{name: "a FIFO queue by its type", to: fifo},
		{name: "a FIFO queue in China", to: fifo, edit: url("https://sqs.cn-north-1.amazonaws.com.cn/111122223333/orders.fifo")},
		{name: "a FIFO queue with the longest name", to: fifo, edit: url("https://sqs.eu-west-1.amazonaws.com/111122223333/" + strings.Repeat("q", 75) + ".fifo")},
		{name: "a FIFO queue with a name that is too long", to: fifo, edit: url("https://sqs.eu-west-1.amazonaws.com/111122223333/" + strings.Repeat("q", 76) + ".fifo"), want: "url"},
		{name: "a standard queue as a FIFO queue", to: fifo, edit: url(ordersQueue), want: "url"},
		{name: "no role for a FIFO queue", to: fifo, edit: role(""), want: "destination.role_arn"},
		{name: "no group", to: fifo, edit: group("")},
		{name: "a group by one field", to: fifo, edit: group("customer")},
		{name: "the longest group", to: fifo, edit: group(strings.Repeat("g", 256))},
		{name: "a group that is too long", to: fifo, edit: group(strings.Repeat("g", 257)), want: "destination.group_by"},
		{name: "a group in JSONPath", to: fifo, edit: group("$.customer.id"), want: "destination.group_by"},
		{name: "a group by an element", to: fifo, edit: group("items[0].id"), want: "destination.group_by"},
		{name: "a group as a JSON pointer", to: fifo, edit: group("/customer/id"), want: "destination.group_by"},
		{name: "a group with an empty name", to: stream, edit: group("customer..id"), want: "destination.group_by"},
		{name: "a group with a dot at the end", to: stream, edit: group("customer."), want: "destination.group_by"},
		{name: "a group with a space", to: stream, edit: group("customer id"), want: "destination.group_by"},
		{name: "a group for a standard queue", to: queue, edit: group("customer.id"), want: "destination.group_by"},
		{name: "a group for events that coalesce", to: fifo, edit: coalescing, want: "destination.group_by"},
		{name: "events that coalesce, without a group", to: fifo, edit: func(e *hook.Endpoint) { coalescing(e); group("")(e) }},

		{name: "a topic", to: topic},
		{name: "a topic with the longest name", to: topic, edit: url("arn:aws:sns:eu-west-1:111122223333:" + strings.Repeat("t", 256))},
		{name: "a topic with a name that is too long", to: topic, edit: url("arn:aws:sns:eu-west-1:111122223333:" + strings.Repeat("t", 257)), want: "url"},
		{name: "a FIFO topic", to: topic, edit: url("arn:aws:sns:eu-west-1:111122223333:orders.fifo"), want: "url"},
		{name: "a subscription in place of a topic", to: topic, edit: url("arn:aws:sns:eu-west-1:111122223333:orders:0c7a1d6e-0000-4000-8000-000000000000"), want: "url"},

		{name: "a stream", to: stream},
		{name: "a stream in another partition", to: stream, edit: url("arn:aws-us-gov:kinesis:us-gov-west-1:111122223333:stream/orders")},
		{name: "a stream with the longest name", to: stream, edit: url("arn:aws:kinesis:eu-west-1:111122223333:stream/" + strings.Repeat("s", 128))},
		{name: "a stream with a name that is too long", to: stream, edit: url("arn:aws:kinesis:eu-west-1:111122223333:stream/" + strings.Repeat("s", 129)), want: "url"},
		{name: "a consumer in place of a stream", to: stream, edit: url("arn:aws:kinesis:eu-west-1:111122223333:stream/orders/consumer/c:1"), want: "url"},
		{name: "a stream without a region", to: stream, edit: url("arn:aws:kinesis::111122223333:stream/orders"), want: "url"},

		{name: "headers", to: queue, edit: func(e *hook.Endpoint) { e.Headers = map[string]string{"X-A": "a"} }, want: "headers"},
		{name: "stored headers", to: queue, edit: func(e *hook.Endpoint) { e.SealedHeaders = map[string][]byte{"X-A": {1}} }, want: "headers"},
		{name: "an authentication", to: queue, edit: func(e *hook.Endpoint) { e.Auth = hook.Auth{Type: hook.AuthBearer, Sealed: []byte{1}} }, want: "auth"},
		{name: "TLS settings", to: bus, edit: func(e *hook.Endpoint) { e.TLS.ID = "t" }, want: "tls"},
		{name: "a region", to: queue, edit: func(e *hook.Endpoint) { e.Region = "us-east-1" }, want: "region"},
		{name: "fixed addresses", to: queue, edit: func(e *hook.Endpoint) { e.Fixed = true }, want: "egress"},
		{name: "profile classic", to: queue, edit: func(e *hook.Endpoint) { e.Profiles = hook.ProfilesNamed(hook.ProfileClassic) }, want: "signature_profiles"},

		{name: "an unknown type", to: "smtp", want: "destination.type"},
		{name: "a role for http", to: hook.DestinationHTTP, edit: role("arn:aws:iam::111122223333:role/surehook/orders"), want: "destination.role_arn"},
		{name: "a source for http", to: hook.DestinationHTTP, edit: source("s"), want: "destination.source"},
		{name: "http with the external id of an earlier queue", to: hook.DestinationHTTP},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := destined(tt.to)
			if tt.edit != nil {
				tt.edit(e)
			}
			if got := fieldsOf(destination.Validate(e)); got != tt.want {
				t.Errorf("Validate names %v; want %q", got, tt.want)
			}
		})
	}
}

func TestCheck_deployment(t *testing.T) {
	t.Parallel()

	on := hook.Destinations{RolePath: "/surehook/", Account: "999988887777"}
	tests := []struct {
		name string
		d    hook.Destinations
		to   hook.DestinationType
		edit func(*hook.Endpoint)
		want string
	}{
		{name: "a queue", d: on, to: queue},
		{name: "a bus", d: on, to: bus},
		{name: "a queue without the setting", to: queue, want: "destination.type"},
		{name: "http without the setting", to: hook.DestinationHTTP},
		{name: "a role deeper below the path", d: on, to: queue, edit: setting(destination.RoleARN, "arn:aws:iam::111122223333:role/surehook/prod/orders")},
		{name: "a role with another path", d: on, to: queue, edit: setting(destination.RoleARN, "arn:aws:iam::111122223333:role/surehook-2/orders"), want: "destination.role_arn"},
		{name: "a role with the name of the path", d: on, to: queue, edit: setting(destination.RoleARN, "arn:aws:iam::111122223333:role/surehook"), want: "destination.role_arn"},
		{name: "a queue in Surehook's account", d: on, to: queue, edit: func(e *hook.Endpoint) { e.URL = "https://sqs.us-east-1.amazonaws.com/999988887777/live" }, want: "url"},
		{name: "a bus in Surehook's account", d: on, to: bus, edit: func(e *hook.Endpoint) { e.URL = "arn:aws:events:us-east-1:999988887777:event-bus/default" }, want: "url"},
		{name: "a role in Surehook's account", d: on, to: queue, edit: setting(destination.RoleARN, "arn:aws:iam::999988887777:role/surehook/orders"), want: "destination.role_arn"},
		{name: "a queue in another account than the role", d: on, to: queue, edit: func(e *hook.Endpoint) { e.URL = "https://sqs.us-east-1.amazonaws.com/444455556666/orders" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := destined(tt.to)
			if tt.edit != nil {
				tt.edit(e)
			}
			if got := fieldsOf(destination.Check(tt.d, e)); got != tt.want {
				t.Errorf("Check names %v; want %q", got, tt.want)
			}
		})
	}
}
