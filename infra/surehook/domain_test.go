package surehook

import (
	"testing"
)

func TestDomain(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "custom")
	domain := tpl.get(t, "AWS::ApiGatewayV2::DomainName", "Domain")
	domain.check(t, "DomainName", "hooks.example.com")
	domain.check(t, "DomainNameConfigurations", []any{map[string]any{
		"CertificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/1",
		"EndpointType":   "REGIONAL",
		"SecurityPolicy": "TLS_1_2",
	}})
	mapping := tpl.get(t, "AWS::ApiGatewayV2::ApiMapping", "DomainMapping")
	for property, want := range map[string]string{"ApiId": "${Api}", "DomainName": "${Domain}", "Stage": "${Stage}"} {
		if got := show(mapping.at(property)); got != want {
			t.Errorf("%s of the mapping = %s; want %s", property, got, want)
		}
	}
	tpl.get(t, "AWS::ApiGatewayV2::Api", "Api").check(t, "DisableExecuteApiEndpoint", true)
	for _, id := range []string{"Deliver", "Manage"} {
		want := "${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix},hooks.example.com"
		if got := variables(tpl.get(t, "AWS::Lambda::Function", id))["SUREHOOK_API_HOSTS"]; got != want {
			t.Errorf("%s of %s = %s; want both names of the API, %s", "SUREHOOK_API_HOSTS", id, got, want)
		}
	}
	for name, want := range map[string]string{
		"ApiUrl":       "https://hooks.example.com",
		"DomainTarget": "${Domain.RegionalDomainName}",
		"DomainZoneId": "${Domain.RegionalHostedZoneId}",
	} {
		output, _ := tpl.Outputs[name].(map[string]any)
		if got := show(output["Value"]); got != want {
			t.Errorf("output %s = %s; want %s", name, got, want)
		}
	}
}

func TestDomain_none(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			if n := len(tpl.all("AWS::ApiGatewayV2::DomainName")) + len(tpl.all("AWS::ApiGatewayV2::ApiMapping")); n != 0 {
				t.Errorf("%d resources of a domain; want none without one", n)
			}
			tpl.get(t, "AWS::ApiGatewayV2::Api", "Api").check(t, "DisableExecuteApiEndpoint", false)
		})
	}
}
