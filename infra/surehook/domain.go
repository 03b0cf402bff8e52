package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

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
