package surehook

import (
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2authorizers"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// authorizerTTL is the cache lifetime of an authorizer's answer. A deleted key
// works up to a minute longer.
const authorizerTTL = time.Minute

// API is the HTTP API.
type API struct {
	HTTP awsapigatewayv2.HttpApi
	// URL is the address of the API: the environment's domain, or the name from
	// AWS.
	URL *string
	// Domain is the environment's custom domain, nil without a domain. The DNS
	// record is an alias of the domain's RegionalDomainName.
	Domain awsapigatewayv2.DomainName
	// AccessLog has a line for each request, in the form of accessLogFields.
	AccessLog awslogs.ILogGroup
}

// newAPI makes the HTTP API. The API's documents, the pages of the console and
// the portal, and the opening of a portal link by its code are public. The functions with
// requests to endpoints, and with the check of their URLs, get the hosts of the API.
func newAPI(p plan) API {
	authorizer := awsapigatewayv2authorizers.NewHttpLambdaAuthorizer(jsii.String("Authorizer"), p.Functions.Authorize,
		&awsapigatewayv2authorizers.HttpLambdaAuthorizerProps{
			AuthorizerName:  jsii.String(p.Prefix),
			IdentitySource:  jsii.Strings("$request.header.Authorization"),
			ResponseTypes:   &[]awsapigatewayv2authorizers.HttpLambdaResponseType{awsapigatewayv2authorizers.HttpLambdaResponseType_SIMPLE},
			ResultsCacheTtl: seconds(authorizerTTL),
		})
	domain := p.Environment.Domain
	api := awsapigatewayv2.NewHttpApi(p.Construct, jsii.String("Api"), &awsapigatewayv2.HttpApiProps{
		ApiName:            &p.Prefix,
		DefaultAuthorizer:  authorizer,
		CreateDefaultStage: jsii.Bool(false),
		// Rules in front of the domain, such as those of a firewall, would not apply to a second
		// name.
		DisableExecuteApiEndpoint: jsii.Bool(domain.Name != ""),
	})

	stage, accessLog := newStage(p, api)
	settings := map[string]any{}
	to := map[string]awsapigatewayv2.HttpRouteIntegration{
		"ingest": integration("Ingest", p.Functions.Ingest), "manage": integration("Manage", p.Functions.Manage), "replay": integration("Replay", p.Functions.Replay),
	}
	for _, r := range routes(p.Environment.Throttles) {
		options := &awsapigatewayv2.AddRoutesOptions{Path: &r.path, Methods: &[]awsapigatewayv2.HttpMethod{r.method}, Integration: to[r.to]}
		if r.public != "" {
			options.Authorizer = awsapigatewayv2.NewHttpNoneAuthorizer()
		}
		// API Gateway refuses settings of a route before the route exists.
		stage.Node().AddDependency((*api.AddRoutes(options))[0])
		// CDK has no type for the settings of a route, and copies the map unchanged.
		settings[string(r.method)+" "+r.path] = map[string]any{"ThrottlingRateLimit": r.throttle.PerSecond, "ThrottlingBurstLimit": r.throttle.Burst}
	}
	stage.SetRouteSettings(settings)
	namePermission(api)

	hosts := apiHost(api)
	made := API{HTTP: api, AccessLog: accessLog}
	if domain.Name == "" {
		made.URL = api.ApiEndpoint()
	} else {
		made.Domain = newDomain(p.Construct, domain, api, stage)
		made.URL = jsii.String("https://" + domain.Name)
		hosts += "," + domain.Name
	}
	for _, f := range []awslambda.Function{p.Functions.Deliver, p.Functions.Manage} {
		f.AddEnvironment(jsii.String("SUREHOOK_API_HOSTS"), &hosts, nil)
	}
	return made
}

// newDomain adds the custom domain to the API, whose name from AWS is then disabled.
func newDomain(scope constructs.Construct, domain Domain, api awsapigatewayv2.HttpApi, stage awsapigatewayv2.CfnStage) awsapigatewayv2.DomainName {
	name := awsapigatewayv2.NewDomainName(scope, jsii.String("Domain"), &awsapigatewayv2.DomainNameProps{
		DomainName:     &domain.Name,
		Certificate:    awscertificatemanager.Certificate_FromCertificateArn(scope, jsii.String("Certificate"), &domain.CertificateARN),
		SecurityPolicy: awsapigatewayv2.SecurityPolicy_TLS_1_2,
	})
	awsapigatewayv2.NewCfnApiMapping(scope, jsii.String("DomainMapping"), &awsapigatewayv2.CfnApiMappingProps{
		ApiId:      api.ApiId(),
		DomainName: name.Name(),
		Stage:      stage.Ref(),
	})
	return name
}

// namePermission gives the permission to call the authorizer a logical id without the stack's
// name, which CDK puts into it.
func namePermission(api awsapigatewayv2.HttpApi) {
	for _, child := range *api.Node().Children() {
		if permission, ok := child.(awslambda.CfnPermission); ok && strings.HasSuffix(*child.Node().Id(), "-Permission") {
			authorizer := cfnOf[awscdk.CfnElement](api.Node().FindChild(jsii.String("Authorizer")))
			permission.OverrideLogicalId(jsii.String(*awscdk.Stack_Of(api).GetLogicalId(authorizer) + "Permission"))
		}
	}
}

// apiHost returns the API's host name from AWS.
func apiHost(api awsapigatewayv2.HttpApi) string {
	stack := awscdk.Stack_Of(api)
	return *api.ApiId() + ".execute-api." + *stack.Region() + "." + *stack.UrlSuffix()
}

// route is a route of the API.
type route struct {
	method   awsapigatewayv2.HttpMethod
	path     string
	to       string // the function
	throttle Throttle
	public   string // why it has no authorizer; empty: it has one
}

// routes returns the routes. Function ingest serves the event routes and function replay the
// replay routes. All other requests share one route to function manage, so that only the code
// defines the API's contract.
//
// API Gateway prefers a full match over a route with proxy+, and a longer proxy+ route over a
// shorter one. Function replay answers unknown paths below its routes with 404.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html
func routes(limits Throttles) []route {
	const (
		get  = awsapigatewayv2.HttpMethod_GET
		post = awsapigatewayv2.HttpMethod_POST
		all  = awsapigatewayv2.HttpMethod_ANY

		tenant = "/v1/tenants/{tenant}"

		ingest, manage, replay = "ingest", "manage", "replay"

		code   = "The code of a portal link, 256 random bits that work once, stands for a key. The route has its own low throttle."
		public = "The API's documents contain no secrets, and readers need them before they have a key. The route has its own low throttle."
		pages  = "The pages of the console and the portal contain no data: a page asks for a key and calls the API with the key. The route has its own throttle."
	)
	return []route{
		{method: post, path: tenant + "/events", to: ingest, throttle: limits.Events},
		{method: post, path: tenant + "/events/batch", to: ingest, throttle: limits.Batch},
		{method: post, path: tenant + "/events/{event}/replay", to: replay, throttle: limits.Default},
		{method: awsapigatewayv2.HttpMethod_DELETE, path: tenant + "/events/{event}/payload", to: replay, throttle: limits.Default},
		{method: awsapigatewayv2.HttpMethod_DELETE, path: tenant, to: replay, throttle: limits.Default},
		{method: get, path: tenant + "/erasures/{erasure}", to: replay, throttle: limits.Default},
		{method: post, path: tenant + "/deliveries/{delivery}/{action}", to: replay, throttle: limits.Default},
		{method: all, path: tenant + "/replays", to: replay, throttle: limits.Default},
		{method: all, path: tenant + "/replays/{proxy+}", to: replay, throttle: limits.Default},
		{method: get, path: tenant + "/dead-letters/analysis", to: replay, throttle: limits.Default},
		{method: post, path: tenant + "/portal-session", to: manage, throttle: limits.Pages, public: code},
		{method: all, path: "/v1/{proxy+}", to: manage, throttle: limits.Default},
		{method: get, path: "/v1/openapi.yaml", to: manage, throttle: limits.Public, public: public},
		{method: get, path: "/docs", to: manage, throttle: limits.Public, public: public},
		{method: get, path: "/docs/{proxy+}", to: manage, throttle: limits.Public, public: public},
		{method: get, path: "/console", to: manage, throttle: limits.Pages, public: pages},
		{method: get, path: "/console/{proxy+}", to: manage, throttle: limits.Pages, public: pages},
		{method: get, path: "/portal", to: manage, throttle: limits.Pages, public: pages},
		{method: get, path: "/portal/{proxy+}", to: manage, throttle: limits.Pages, public: pages},
		{method: get, path: "/web/{proxy+}", to: manage, throttle: limits.Pages, public: pages},
	}
}

func integration(id string, f awslambda.Function) awsapigatewayv2integrations.HttpLambdaIntegration {
	return awsapigatewayv2integrations.NewHttpLambdaIntegration(&id, f, &awsapigatewayv2integrations.HttpLambdaIntegrationProps{
		PayloadFormatVersion: awsapigatewayv2.PayloadFormatVersion_VERSION_2_0(),
	})
}

// newStage makes the default stage. URLs of the default stage have no stage
// name. The stage is a plain CloudFormation resource: CDK's own stage has no
// settings per route and no free access log format.
func newStage(p plan, api awsapigatewayv2.HttpApi) (awsapigatewayv2.CfnStage, awslogs.ILogGroup) {
	// API Gateway adds each group outside /aws/vendedlogs to one resource policy of the account.
	// That policy is full after some dozens of groups.
	logs := newLogs(p.Construct, "AccessLogs", "/aws/vendedlogs/apigateway/"+p.Prefix, p)
	stage := awsapigatewayv2.NewCfnStage(p.Construct, jsii.String("Stage"), &awsapigatewayv2.CfnStageProps{
		ApiId:      api.ApiId(),
		StageName:  jsii.String("$default"),
		AutoDeploy: jsii.Bool(true),
		AccessLogSettings: &awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
			// A log group's ARN ends in ":*". API Gateway drops the ":*", so
			// drift detection would report a difference.
			DestinationArn: arnOf(p.Construct, nil, "logs", "log-group", *logs.LogGroupName()),
			Format:         jsii.String(accessLogFormat()),
		},
		DefaultRouteSettings: &awsapigatewayv2.CfnStage_RouteSettingsProperty{
			ThrottlingRateLimit:  jsii.Number(p.Environment.Throttles.Default.PerSecond),
			ThrottlingBurstLimit: jsii.Number(p.Environment.Throttles.Default.Burst),
		},
	})
	return stage, logs
}

// accessField is a field of the access log: its name in queries, and API Gateway's
// variable.
type accessField struct{ name, variable string }

// accessLogFields returns the fields of a line of the access log. It has no query and no header,
// because both can contain secrets; nor does the path contain the query. Every byte is paid for
// with each request, so the line leaves out the time, which CloudWatch keeps, and the route,
// which follows from the method and the path. Their names are not in each line, but in the saved
// query. Only the path, the last field, may contain a space.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging-variables.html
func accessLogFields() []accessField {
	return []accessField{
		{"request_id", "$context.requestId"},
		{"ip", "$context.identity.sourceIp"},
		{names.LogKey, "$context.authorizer." + names.AuthKeyID},
		{names.LogStatus, "$context.status"},
		{names.LogError, "$context.error.responseType"},
		{names.LogDuration, "$context.responseLatency"},
		{names.LogMethod, "$context.httpMethod"},
		{"path", "$context.path"},
	}
}

func accessLogFormat() string {
	var variables []string
	for _, f := range accessLogFields() {
		variables = append(variables, f.variable)
	}
	return strings.Join(variables, " ")
}
