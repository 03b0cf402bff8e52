package surehook

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAPI_routes(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			integrations := map[string]resource{}
			for logical, r := range tpl.Resources {
				if r.Type == "AWS::ApiGatewayV2::Integration" {
					integrations["integrations/${"+short(logical)+"}"] = r
					r.check(t, "IntegrationType", "AWS_PROXY")
					r.check(t, "PayloadFormatVersion", "2.0")
				}
			}
			got := map[string]string{}
			for _, route := range tpl.all("AWS::ApiGatewayV2::Route") {
				got[show(route.at("RouteKey"))] = show(integrations[show(route.at("Target"))].at("IntegrationUri"))
			}
			want := map[string]string{
				"POST /v1/tenants/{tenant}/events":                         "${Ingest.Arn}",
				"POST /v1/tenants/{tenant}/events/batch":                   "${Ingest.Arn}",
				"POST /v1/tenants/{tenant}/events/{event}/replay":          "${Replayer.Arn}",
				"DELETE /v1/tenants/{tenant}/events/{event}/payload":       "${Replayer.Arn}",
				"DELETE /v1/tenants/{tenant}":                              "${Replayer.Arn}",
				"GET /v1/tenants/{tenant}/erasures/{erasure}":              "${Replayer.Arn}",
				"POST /v1/tenants/{tenant}/deliveries/{delivery}/{action}": "${Replayer.Arn}",
				"ANY /v1/tenants/{tenant}/replays":                         "${Replayer.Arn}",
				"ANY /v1/tenants/{tenant}/replays/{proxy+}":                "${Replayer.Arn}",
				"GET /v1/tenants/{tenant}/dead-letters/analysis":           "${Replayer.Arn}",
				"POST /v1/tenants/{tenant}/portal-session":                 "${Manage.Arn}",
				"ANY /v1/{proxy+}":                                         "${Manage.Arn}",
				"GET /v1/openapi.yaml":                                     "${Manage.Arn}",
				"GET /docs":                                                "${Manage.Arn}",
				"GET /docs/{proxy+}":                                       "${Manage.Arn}",
				"GET /console":                                             "${Manage.Arn}",
				"GET /console/{proxy+}":                                    "${Manage.Arn}",
				"GET /portal":                                              "${Manage.Arn}",
				"GET /portal/{proxy+}":                                     "${Manage.Arn}",
				"GET /web/{proxy+}":                                        "${Manage.Arn}",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAPI_public checks that the API's documents, the pages and the opening of a portal link,
// and no other routes, have no authorizer.
func TestAPI_public(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			var public []string
			for _, route := range tpl.all("AWS::ApiGatewayV2::Route") {
				key := show(route.at("RouteKey"))
				switch route.at("AuthorizationType") {
				case "NONE":
					public = append(public, key)
					route.check(t, "AuthorizerId", nil)
				case "CUSTOM":
					if got := show(route.at("AuthorizerId")); got != "${ApiAuthorizer}" {
						t.Errorf("%s is authorized by %s; want the authorizer", key, got)
					}
				default:
					t.Errorf("%s is authorized by %v; want the authorizer or nothing", key, route.at("AuthorizationType"))
				}
			}
			slices.Sort(public)
			want := []string{
				"GET /console", "GET /console/{proxy+}", "GET /docs", "GET /docs/{proxy+}", "GET /portal", "GET /portal/{proxy+}",
				"GET /v1/openapi.yaml", "GET /web/{proxy+}", "POST /v1/tenants/{tenant}/portal-session",
			}
			if diff := cmp.Diff(want, public); diff != "" {
				t.Errorf("public routes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPI_authorizer(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			authorizers := tpl.all("AWS::ApiGatewayV2::Authorizer")
			if len(authorizers) != 1 {
				t.Fatalf("%d authorizers; want 1", len(authorizers))
			}
			for _, a := range authorizers {
				a.check(t, "AuthorizerType", "REQUEST")
				a.check(t, "AuthorizerPayloadFormatVersion", "2.0")
				a.check(t, "EnableSimpleResponses", true)
				a.check(t, "IdentitySource", []any{"$request.header.Authorization"})
				a.check(t, "AuthorizerResultTtlInSeconds", 60)
				if got := show(a.at("AuthorizerUri")); !strings.Contains(got, "/functions/${Authorize.Arn}/invocations") {
					t.Errorf("the authorizer is %s; want authorize", got)
				}
			}
		})
	}
}

func TestAPI_stage(t *testing.T) {
	t.Parallel()

	rate := map[string]int{"dev": 50, "staging": 200, "prod": 1000, "local": 1000}
	burst := map[string]int{"dev": 100, "staging": 400, "prod": 2000, "local": 2000}
	logDays := map[string]int{"dev": 7, "staging": 30, "prod": 90, "local": 1}
	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			stage := tpl.get(t, "AWS::ApiGatewayV2::Stage", "Stage")
			stage.check(t, "StageName", "$default")
			stage.check(t, "AutoDeploy", true)
			stage.check(t, "DefaultRouteSettings.ThrottlingRateLimit", rate[env.Name])
			stage.check(t, "DefaultRouteSettings.ThrottlingBurstLimit", burst[env.Name])
			if got := show(stage.at("AccessLogSettings", "DestinationArn")); !strings.HasSuffix(got, ":log-group:${AccessLogs}") {
				t.Errorf("the access log goes to %s; want the group AccessLogs, without a wildcard", got)
			}
			tpl.get(t, "AWS::Logs::LogGroup", "AccessLogs").check(t, "RetentionInDays", logDays[env.Name])

			const line = "$context.requestId $context.identity.sourceIp $context.authorizer.key_id $context.status $context.error.responseType " +
				"$context.responseLatency $context.httpMethod $context.path"
			if got := show(stage.at("AccessLogSettings", "Format")); got != line {
				t.Errorf("the access log is %s; want %s: no query, no header, and the path, which may hold a space, last", got, line)
			}
		})
	}
}

// TestAPI_throttles repeats the numbers, so a change in environments.go alone
// fails the test.
func TestAPI_throttles(t *testing.T) {
	t.Parallel()

	limit := func(perSecond, burst float64) map[string]any {
		return map[string]any{"ThrottlingRateLimit": perSecond, "ThrottlingBurstLimit": burst}
	}
	tests := map[string]struct{ manage, events, batch, public, pages map[string]any }{
		"dev":     {manage: limit(50, 100), events: limit(50, 100), batch: limit(5, 10), public: limit(5, 10), pages: limit(25, 50)},
		"staging": {manage: limit(200, 400), events: limit(200, 400), batch: limit(10, 20), public: limit(10, 20), pages: limit(50, 100)},
		"prod":    {manage: limit(1000, 2000), events: limit(1000, 2000), batch: limit(50, 100), public: limit(10, 20), pages: limit(50, 100)},
		"local":   {manage: limit(1000, 2000), events: limit(1000, 2000), batch: limit(50, 100), public: limit(100, 200), pages: limit(100, 200)},
	}
	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			want := tests[env.Name]
			stage := tpl.get(t, "AWS::ApiGatewayV2::Stage", "Stage")
			stage.check(t, "RouteSettings", map[string]any{
				"POST /v1/tenants/{tenant}/events/{event}/replay":          want.manage,
				"DELETE /v1/tenants/{tenant}":                              want.manage,
				"GET /v1/tenants/{tenant}/erasures/{erasure}":              want.manage,
				"DELETE /v1/tenants/{tenant}/events/{event}/payload":       want.manage,
				"POST /v1/tenants/{tenant}/deliveries/{delivery}/{action}": want.manage,
				"ANY /v1/tenants/{tenant}/replays":                         want.manage,
				"ANY /v1/tenants/{tenant}/replays/{proxy+}":                want.manage,
				"GET /v1/tenants/{tenant}/dead-letters/analysis":           want.manage,
				"POST /v1/tenants/{tenant}/portal-session":                 want.pages,
				"ANY /v1/{proxy+}":                                         want.manage,
				"POST /v1/tenants/{tenant}/events":                         want.events,
				"POST /v1/tenants/{tenant}/events/batch":                   want.batch,
				"GET /v1/openapi.yaml":                                     want.public,
				"GET /docs":                                                want.public,
				"GET /docs/{proxy+}":                                       want.public,
				"GET /console":                                             want.pages,
				"GET /console/{proxy+}":                                    want.pages,
				"GET /portal":                                              want.pages,
				"GET /portal/{proxy+}":                                     want.pages,
				"GET /web/{proxy+}":                                        want.pages,
			})
			// API Gateway refuses settings of a route before the route exists.
			for logical, r := range tpl.Resources {
				if r.Type == "AWS::ApiGatewayV2::Route" && !slices.Contains(stage.DependsOn, logical) {
					t.Errorf("the stage does not wait for the route %s", show(r.at("RouteKey")))
				}
			}
		})
	}
}

// TestPermissions checks that only this API may call the functions.
func TestPermissions(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			var got []string
			for _, p := range tpl.all("AWS::Lambda::Permission") {
				p.check(t, "Principal", "apigateway.amazonaws.com")
				p.check(t, "Action", "lambda:InvokeFunction")
				source := show(p.at("SourceArn"))
				if !strings.Contains(source, ":${Api}/") {
					t.Errorf("%s may be called from %q; want the API only", show(p.at("FunctionName")), source)
				}
				got = append(got, show(p.at("FunctionName")))
			}
			slices.Sort(got)
			want := slices.Concat([]string{"${Authorize.Arn}"}, slices.Repeat([]string{"${Ingest.Arn}"}, 2),
				slices.Repeat([]string{"${Manage.Arn}"}, 10), slices.Repeat([]string{"${Replayer.Arn}"}, 8))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("functions that the API may call (-want +got):\n%s", diff)
			}
		})
	}
}
