package surehook

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/names"
)

func TestEnvironmentNamed(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, env, arch  string
		wantArch, wantIn string // wantIn is part of the error
	}{
		{name: "prod runs on arm64", env: "prod", wantArch: "arm64"},
		{name: "prod accepts its own architecture", env: "prod", arch: "arm64", wantArch: "arm64"},
		{name: "prod is not built for anything else", env: "prod", arch: "amd64", wantIn: "arch=amd64 is for env=local"},
		{name: "staging runs on arm64", env: "staging", wantArch: "arm64"},
		{name: "dev runs on arm64", env: "dev", wantArch: "arm64"},
		{name: "local runs on the given architecture", env: "local", arch: "amd64", wantArch: "amd64"},
		{name: "local runs on this machine by default", env: "local", wantArch: runtime.GOARCH},
		{name: "local does not run on anything", env: "local", arch: "riscv64", wantIn: `architecture "riscv64"`},
		{name: "no environment is an error that names the choices", wantIn: "env=dev|staging|prod|local"},
		{name: "an unknown environment is an error that names the choices", env: "production", wantIn: `unknown environment "production": say -c env=dev|staging|prod|local`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := EnvironmentNamed(tt.env, tt.arch)
			if tt.wantIn != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantIn) {
					t.Errorf("EnvironmentNamed(%q, %q) = %v; want an error with %q", tt.env, tt.arch, err, tt.wantIn)
				}
				return
			}
			if err != nil || got.Name != tt.env || got.Architecture != tt.wantArch {
				t.Errorf("EnvironmentNamed(%q, %q) = %s on %s, %v; want it on %s", tt.env, tt.arch, got.Name, got.Architecture, err, tt.wantArch)
			}
		})
	}
}

func TestEnvironment_Validate(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		env    string
		change func(*Environment)
		want   string // part of the error; empty: valid
	}{
		{name: "prod never reaches loopback", env: "prod", change: func(e *Environment) { e.Egress = names.EgressLoopback }, want: "local stack only"},
		{name: "staging never reaches loopback", env: "staging", change: func(e *Environment) { e.Egress = names.EgressLoopback }, want: "local stack only"},
		{name: "dev never reaches loopback", env: "dev", change: func(e *Environment) { e.Egress = names.EgressLoopback }, want: "local stack only"},
		{name: "local may be as strict as the others", env: "local", change: func(e *Environment) { e.Egress = names.EgressPublic }},
		{name: "local may name one more host", env: "local", change: func(e *Environment) { e.EgressHost = "host.docker.internal" }},
		{name: "one more host needs loopback", env: "local", change: func(e *Environment) { e.Egress, e.EgressHost = names.EgressPublic, "h" }, want: "local stack only"},
		{name: "prod never names one more host", env: "prod", change: func(e *Environment) { e.EgressHost = "h" }, want: "local stack only"},
		{name: "egress has no default", env: "local", change: func(e *Environment) { e.Egress = "" }, want: `egress "" is unknown`},
		{name: "the architecture has Go's name", env: "dev", change: func(e *Environment) { e.Architecture = "x86_64" }, want: "x86_64"},
		{name: "28 days of data are the least", env: "dev", change: func(e *Environment) { e.Retention = 28 * day }},
		{name: "less than 28 days of data are refused", env: "dev", change: func(e *Environment) { e.Retention = 28*day - 1 }, want: "SUREHOOK_RETENTION"},
		{name: "log lines are kept for as long as CloudWatch can", env: "dev", change: func(e *Environment) { e.LogDays = 3653 }},
		{name: "log lines are not kept for two days", env: "dev", change: func(e *Environment) { e.LogDays = 2 }, want: "cannot be kept for 2 days"},
		{name: "an alias is no sealing key", env: "dev", change: func(e *Environment) { e.SealingKey = "alias/shop" }, want: "not the ARN of a KMS key"},
		{name: "a name is no boundary", env: "dev", change: func(e *Environment) { e.PermissionsBoundary = "bounds" }, want: "not the ARN of a policy"},
		{name: "destinations in AWS have a path of roles", env: "prod", change: func(e *Environment) { e.Destinations = "/surehook/prod/" }},
		{name: "the roles of everybody are no path", env: "prod", change: func(e *Environment) { e.Destinations = "/" }, want: "path of roles"},
		{name: "a path ends with a slash", env: "prod", change: func(e *Environment) { e.Destinations = "/surehook" }, want: "path of roles"},
		{name: "a path has no wildcard", env: "prod", change: func(e *Environment) { e.Destinations = "/*/" }, want: "path of roles"},
		{name: "new endpoints may get the payload alone", env: "prod", change: func(e *Environment) { e.Envelope = "raw" }},
		{name: "new endpoints have no thin envelope", env: "prod", change: func(e *Environment) { e.Envelope = "thin" }, want: "SUREHOOK_ENVELOPE"},
		{name: "a deployment has profiles of its own", env: "prod", change: func(e *Environment) { e.SignatureProfiles, e.Signatures = acmeProfiles, []string{"acme", "stripe"} }},
		{name: "profiles are JSON", env: "prod", change: func(e *Environment) { e.SignatureProfiles = "acme" }, want: "must be JSON"},
		{name: "profiles have known fields", env: "prod", change: func(e *Environment) { e.SignatureProfiles = `{"acme":{"sign":"x"}}` }, want: "unknown object member"},
		{name: "a profile is checked", env: "prod", change: func(e *Environment) { e.SignatureProfiles = strings.Replace(acmeProfiles, "sha256", "md5", 1) }, want: "acme.algorithm"},
		{name: "a profile has no name of Surehook's", env: "prod", change: func(e *Environment) { e.SignatureProfiles = strings.Replace(acmeProfiles, "acme", "slack", 1) }, want: "is a profile of Surehook"},
		{name: "profiles have little room", env: "prod", change: func(e *Environment) { e.SignatureProfiles = acmeProfiles + strings.Repeat(" ", 900) }, want: "900 is the most"},
		{name: "new endpoints have known profiles", env: "prod", change: func(e *Environment) { e.Signatures = []string{"acme"} }, want: `"acme" is unknown`},
		{name: "new endpoints have two profiles at most", env: "prod", change: func(e *Environment) { e.Signatures = []string{"github", "slack", "stripe"} }, want: "2 is the most"},
		{name: "endpoints may need a proof", env: "prod", change: func(e *Environment) { e.Ownership = "challenge" }},
		{name: "another proof is unknown", env: "prod", change: func(e *Environment) { e.Ownership = "dns" }, want: `"dns", not challenge`},
		{name: "endpoints per host may have a limit", env: "prod", change: func(e *Environment) { e.EndpointsPerHost = 1 }},
		{name: "a limit of endpoints per host is no negative number", env: "prod", change: func(e *Environment) { e.EndpointsPerHost = -1 }, want: "SUREHOOK_ENDPOINTS_PER_HOST"},
		{name: "the portal has a name, a color and embedders", env: "prod", change: func(e *Environment) {
			e.Portal = Portal{Name: "Acme", Accent: "#3b5bdb", Embedders: []string{"https://app.example.com"}}
		}},
		{name: "people sign in at an https issuer", env: "prod", change: func(e *Environment) {
			e.SignIn = names.SignIn{Issuer: "https://id.example.com", ClientID: "surehook", Roles: "operator=ops"}
		}, want: ""},
		{name: "an issuer on loopback is for the local stack", env: "prod", change: func(e *Environment) {
			e.SignIn = names.SignIn{Issuer: "http://localhost:1", ClientID: "surehook", Roles: "operator=ops"}
		}, want: "not https"},
		{name: "a sign-in needs roles", env: "prod", change: func(e *Environment) { e.SignIn = names.SignIn{Issuer: "https://id.example.com", ClientID: "surehook"} }, want: "the roles"},
		{name: "a logo is no other text", env: "prod", change: func(e *Environment) { e.Portal.Logo = "logo.svg" }, want: "SUREHOOK_PORTAL_LOGO"},
		{name: "a color is no other text", env: "prod", change: func(e *Environment) { e.Portal.Accent = "red" }, want: "SUREHOOK_PORTAL_ACCENT"},
		{name: "an embedder is an origin", env: "prod", change: func(e *Environment) { e.Portal.Embedders = []string{"*"} }, want: "https origin"},
		{name: "a throttle lets one in at least", env: "dev", change: func(e *Environment) { e.Throttles.Public = Throttle{PerSecond: 1, Burst: 1} }},
		{name: "a closed throttle is refused", env: "dev", change: func(e *Environment) { e.Throttles.Default.Burst = 0 }, want: "lets nothing in"},
		{name: "a closed route is refused", env: "dev", change: func(e *Environment) { e.Throttles.Public.PerSecond = 0 }, want: "lets nothing in"},
		{name: "no route has a higher rate than the default", env: "dev", change: func(e *Environment) { e.Throttles.Events.PerSecond = e.Throttles.Default.PerSecond + 1 }, want: "above the default"},
		{name: "no route has a greater burst than the default", env: "dev", change: func(e *Environment) { e.Throttles.Batch.Burst = e.Throttles.Default.Burst + 1 }, want: "above the default"},
		{name: "two is the least concurrency", env: "dev", change: func(e *Environment) { e.Concurrency.Retry = 2 }},
		{name: "one is too little concurrency", env: "dev", change: func(e *Environment) { e.Concurrency.Retry = 1 }, want: "concurrency"},
		{name: "a thousand is the greatest concurrency", env: "dev", change: func(e *Environment) { e.Concurrency.Live, e.Concurrency.Account = 1000, 2000 }},
		{name: "a thousand and one is too much concurrency", env: "dev", change: func(e *Environment) { e.Concurrency.Live = 1001 }, want: "concurrency"},
		{name: "the breaker's concurrency is bounded too", env: "dev", change: func(e *Environment) { e.Concurrency.Circuits = 1 }, want: "concurrency"},
		{name: "four slots are the fewest", env: "dev", change: func(e *Environment) { e.Concurrency.Slots = 4 }},
		{name: "three slots are too few for two queues", env: "dev", change: func(e *Environment) { e.Concurrency.Slots = 3 }, want: "slots"},
		{name: "a thousand slots are the most", env: "dev", change: func(e *Environment) { e.Concurrency.Slots, e.Concurrency.Account = 1000, 2000 }},
		{name: "a thousand and one slots are too many", env: "dev", change: func(e *Environment) { e.Concurrency.Slots = 1001 }, want: "slots"},
		{name: "fixed addresses fit in prod's account", env: "prod", change: func(e *Environment) { e.FixedZones = 2 }},
		{name: "producers are principals", env: "prod", change: func(e *Environment) { e.Producers = []string{"arn:aws:iam::210987654321:root"} }},
		{name: "a producer is not everybody", env: "prod", change: func(e *Environment) { e.Producers = []string{"*"} }, want: `producer "*"`},
		{name: "a zone has an allocation", env: "prod", change: func(e *Environment) {
			e.FixedZones, e.FixedAllocations = 1, []Allocation{{"eipalloc-0a", "198.51.100.7"}}
		}},
		{name: "each zone has an allocation", env: "prod", change: func(e *Environment) {
			e.FixedZones, e.FixedAllocations = 2, []Allocation{{"eipalloc-0a", "198.51.100.7"}}
		}, want: "each zone takes one"},
		{name: "an allocation has an id", env: "prod", change: func(e *Environment) { e.FixedZones, e.FixedAllocations = 1, []Allocation{{"198.51.100.7", ""}} }, want: "is not an allocation"},
		{name: "a ceiling above the rest of the account is refused", env: "prod", change: func(e *Environment) {
			e.FixedZones, e.Concurrency.FixedSender = 2, 231
		}, want: "take 1001 concurrent executions, and the account has 1000"},
		{name: "the ceiling counts with fixed addresses only", env: "prod", change: func(e *Environment) { e.Concurrency.FixedSender = 900 }},
		{name: "sender-fixed may have no ceiling", env: "prod", change: func(e *Environment) { e.FixedZones, e.Concurrency.FixedSender = 2, 0 }},
		{name: "a ceiling is no negative number", env: "prod", change: func(e *Environment) { e.Concurrency.FixedSender = -1 }, want: "below 0"},
		{name: "AWS keeps a hundred executions unreserved", env: "dev", change: func(e *Environment) {
			e.FixedZones, e.Concurrency.FixedSender = 1, 901
		}, want: "AWS keeps 100 unreserved"},
		{name: "a new account fits no environment", env: "dev", change: func(e *Environment) { e.Concurrency.Account = 10 }, want: "the account has 10: raise its quota"},
		{name: "the concurrency of replay jobs is bounded too", env: "dev", change: func(e *Environment) { e.Concurrency.ReplayJobs = 1 }, want: "concurrency"},
		{name: "an environment has a name", env: "dev", change: func(e *Environment) { e.Name = "" }, want: "no name"},
		{name: "an embedding app may choose the name", env: "dev", change: func(e *Environment) { e.Name = "shop-eu" }},
		{name: "a name of one's own opens no loopback", env: "local", change: func(e *Environment) { e.Name = "localhost" }, want: "local stack only"},
		{name: "an archive needs point-in-time recovery", env: "dev", change: func(e *Environment) { e.Archive = true }, want: "point-in-time recovery"},
		{name: "an archive with point-in-time recovery is fine", env: "staging", change: func(e *Environment) { e.Archive = true }},
		{name: "warm throughput may carry prod's throttles", env: "prod", change: func(e *Environment) {
			e.WarmThroughput = WarmThroughput{ReadUnits: 30_000, WriteUnits: 18_000}
		}},
		{name: "warm throughput may equal a new table's", env: "dev", change: func(e *Environment) {
			e.WarmThroughput = WarmThroughput{ReadUnits: 12_000, WriteUnits: 4_000}
		}},
		{name: "fewer warm read units than a new table's are refused", env: "dev", change: func(e *Environment) {
			e.WarmThroughput = WarmThroughput{ReadUnits: 11_999, WriteUnits: 4_000}
		}, want: "warm throughput"},
		{name: "fewer warm write units than a new table's are refused", env: "dev", change: func(e *Environment) {
			e.WarmThroughput = WarmThroughput{ReadUnits: 12_000, WriteUnits: 3_999}
		}, want: "warm throughput"},
		{name: "warm throughput needs both numbers", env: "dev", change: func(e *Environment) {
			e.WarmThroughput = WarmThroughput{WriteUnits: 5_000}
		}, want: "warm throughput"},
		{name: "alarms go to an address", env: "prod", change: func(e *Environment) { e.AlarmEmail = "oncall@example.com" }},
		{name: "an address is not a name with an address", env: "prod", change: func(e *Environment) { e.AlarmEmail = "On Call <oncall@example.com>" }, want: "not an e-mail address"},
		{name: "an address has an at sign", env: "prod", change: func(e *Environment) { e.AlarmEmail = "oncall" }, want: "not an e-mail address"},
		{name: "events come from a bus", env: "prod", change: func(e *Environment) {
			e.Events = EventBus{Bus: "default", Pattern: `{"source": ["com.example.orders"]}`, TenantPath: "detail.customer.id"}
		}},
		{name: "a bus without a pattern would bring all of its events", env: "prod", change: func(e *Environment) { e.Events.Bus = "default" }, want: "needs both"},
		{name: "a pattern is JSON", env: "prod", change: func(e *Environment) { e.Events = EventBus{Bus: "default", Pattern: "orders"} }, want: "not a JSON object"},
		{name: "a pattern has no null", env: "prod", change: func(e *Environment) { e.Events = EventBus{Bus: "default", Pattern: `{"a": [null, "b"]}`} }, want: "has a null"},
		{name: "a pattern has no long number", env: "prod", change: func(e *Environment) { e.Events = EventBus{Bus: "default", Pattern: `{"a": [12345678901234567]}`} }, want: "beyond 2^53"},
		{name: "a pattern names a field", env: "prod", change: func(e *Environment) { e.Events = EventBus{Bus: "default", Pattern: "{}"} }, want: "not a JSON object"},
		{name: "a tenant path is no JSON path", env: "prod", change: func(e *Environment) { e.Events.TenantPath = "$.detail.tenant" }, want: "tenant path"},
		{name: "the concurrency of the events queue is bounded too", env: "dev", change: func(e *Environment) { e.Concurrency.Events = 1 }, want: "concurrency"},
		{name: "events are checked", env: "prod", change: func(e *Environment) { e.Validation = "reject" }},
		{name: "another validation is unknown", env: "prod", change: func(e *Environment) { e.Validation = "strict" }, want: "not off, warn or reject"},
		{name: "spans go to X-Ray", env: "prod", change: func(e *Environment) { e.Traces = "xray" }},
		{name: "spans go to an endpoint", env: "prod", change: func(e *Environment) { e.Traces = "https://collector.example.com/v1/traces" }},
		{name: "spans go over TLS", env: "prod", change: func(e *Environment) { e.Traces = "http://collector.example.com/v1/traces" }, want: "spans go to"},
		{name: "a URL of spans holds no password", env: "prod", change: func(e *Environment) { e.Traces = "https://u:p@collector.example.com" }, want: "spans go to"},
		{name: "another destination of spans is unknown", env: "prod", change: func(e *Environment) { e.Traces = "x-ray" }, want: "spans go to"},
		{name: "a domain has a name and a certificate", env: "prod", change: func(e *Environment) { e.Domain = customised().Domain }},
		{name: "a domain without a certificate is refused", env: "prod", change: func(e *Environment) { e.Domain.Name = "hooks.example.com" }, want: "needs both"},
		{name: "a certificate without a domain is refused", env: "prod", change: func(e *Environment) { e.Domain.CertificateARN = "arn:aws:acm:1" }, want: "needs both"},
		{name: "a certificate is an ARN", env: "prod", change: func(e *Environment) {
			e.Domain = Domain{Name: "hooks.example.com", CertificateARN: "hooks.example.com"}
		}, want: "not the ARN"},
		{name: "a certificate is one of ACM", env: "prod", change: func(e *Environment) {
			e.Domain = Domain{Name: "hooks.example.com", CertificateARN: "arn:aws:iam::123456789012:server-certificate/hooks"}
		}, want: "not the ARN"},
		{name: "a certificate may be made by the embedding app", env: "prod", change: func(e *Environment) {
			e.Domain = Domain{Name: "hooks.example.com", CertificateARN: "${Token[TOKEN.1]}"}
		}},
		{name: "an alarm may be raised at the first", env: "prod", change: func(e *Environment) { e.Thresholds.FunctionErrors = 0 }},
		{name: "no alarm is raised for ever", env: "prod", change: func(e *Environment) { e.Thresholds.FunctionErrors = -1 }, want: "threshold"},
		{name: "a minute is the least age of a delivery to alarm at", env: "prod", change: func(e *Environment) { e.Thresholds.OldestPending = time.Minute }},
		{name: "a delivery that just came raises no alarm", env: "prod", change: func(e *Environment) { e.Thresholds.OldestPending = time.Minute - 1 }, want: "oldest"},
		{name: "a success rate of all is strict, and possible", env: "prod", change: func(e *Environment) { e.Thresholds.SuccessRate = 100 }},
		{name: "a success rate is a percentage", env: "prod", change: func(e *Environment) { e.Thresholds.SuccessRate = 100.1 }, want: "success rate"},
		{name: "a success rate of nothing would alarm at nothing", env: "prod", change: func(e *Environment) { e.Thresholds.SuccessRate = 0 }, want: "success rate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			env, err := EnvironmentNamed(tt.env, "")
			if err != nil {
				t.Fatalf("EnvironmentNamed(%q) = %v", tt.env, err)
			}
			tt.change(&env)
			err = env.Validate()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Validate() = %v; want an error with %q", err, tt.want)
			}
		})
	}
}

// TestConcurrency_slots checks the shares of the in-flight slots.
func TestConcurrency_slots(t *testing.T) {
	t.Parallel()

	tests := []struct{ slots, reserve, overflow, shares int }{
		{slots: 4, reserve: 2, overflow: 2, shares: 1},
		{slots: 20, reserve: 2, overflow: 18, shares: 1},
		{slots: 29, reserve: 2, overflow: 27, shares: 1},
		{slots: 30, reserve: 3, overflow: 27, shares: 1},
		{slots: 79, reserve: 7, overflow: 72, shares: 1},
		{slots: 80, reserve: 8, overflow: 72, shares: 2},
		{slots: 200, reserve: 20, overflow: 180, shares: 5},
		{slots: 1000, reserve: 100, overflow: 900, shares: 25},
	}
	for _, tt := range tests {
		c := Concurrency{Slots: tt.slots}
		if c.reserve() != tt.reserve || c.overflow() != tt.overflow || c.tenantShares() != tt.shares {
			t.Errorf("%d slots are %d and %d, %d for a tenant; want %d and %d, %d for a tenant",
				tt.slots, c.reserve(), c.overflow(), c.tenantShares(), tt.reserve, tt.overflow, tt.shares)
		}
		// One tenant alone has the overflow and its places.
		if alone := c.overflow() + c.tenantShares(); tt.slots >= 20 && alone*10 < tt.slots*9 {
			t.Errorf("one tenant alone gets %d of %d slots; want 90 %%", alone, tt.slots)
		}
	}
}

// TestConcurrency_total checks that every environment fits in an account with the
// default concurrency, with fixed addresses, too, and that slow endpoints with fixed
// addresses leave room for others.
func TestConcurrency_total(t *testing.T) {
	t.Parallel()

	want := map[string]int{"dev": 38 + 12 + 30, "staging": 105 + 35 + 75, "prod": 600 + 170 + 230, "local": 24 + 152 + 15}
	for _, env := range environments("arm64") {
		env.FixedZones = 2
		if got := env.executions(); got != want[env.Name] || got > 1000 || env.Concurrency.Account != 1000 {
			t.Errorf("%s takes %d of %d concurrent executions; want %d of 1000", env.Name, got, env.Concurrency.Account, want[env.Name])
		}
		if c := env.Concurrency; c.FixedSender <= c.Slots {
			t.Errorf("%s: sender-fixed has %d executions for %d in-flight slots; want more", env.Name, c.FixedSender, c.Slots)
		}
	}
}
