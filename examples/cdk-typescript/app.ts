// The CDK app of a shop. Its stack has the resources of Surehook's released template, beside
// a role for the shop's own backend.
//
// The context says where the release is: `template` is the path of the template on this
// machine, `bucket` and `prefix` are the place of the functions' archives in S3.
import { App, CfnOutput, Stack, Token } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';

const app = new App();

function context(name: string): string {
  const value: unknown = app.node.tryGetContext(name);
  if (typeof value !== 'string' || value === '') throw new Error(`say where the release is: -c ${name}=...`);
  return value;
}

// The name of the stack is the prefix of Surehook's names.
const stack = new Stack(app, 'Shop', { stackName: 'shop-webhooks', terminationProtection: true });
const surehook = new CfnInclude(stack, 'Surehook', {
  templateFile: context('template'),
  parameters: {
    AssetsBucket: context('bucket'),
    AssetsPrefix: context('prefix'),
    PortalName: 'Shop webhooks',
  },
});

// The backend has a key of its own: put one with the scope events:write into the secret (surehook keys create).
// The output tells the backend the API's URL.
const backend = new Role(stack, 'Backend', { assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com') });
const output = (name: string): string => Token.asString(surehook.getOutput(name).value);
new Secret(stack, 'WebhooksKey').grantRead(backend);
new CfnOutput(stack, 'WebhooksUrl', { value: output('ApiUrl') });
