/** The tools of 40 servers, five each: server, name, description, and the names of the parameters. */
const TOOLS = `
github | create_issue | Open a new issue in a repository. | owner,repo,title,body,labels
github | list_pull_requests | List pull requests of a repository, by state. | owner,repo,state,page
github | merge_pull_request | Merge a pull request into its base branch. | owner,repo,number,method
github | search_code | Search for code across repositories. | query,language,per_page
github | create_branch | Create a branch from another branch or commit. | owner,repo,branch,from
gitlab | create_merge_request | Open a merge request in a GitLab project. | project,source_branch,target_branch,title
gitlab | list_pipelines | List the CI pipelines of a GitLab project. | project,status,ref
gitlab | retry_pipeline | Run the failed jobs of a pipeline again. | project,pipeline_id
gitlab | get_job_log | Read the output of a CI job. | project,job_id
gitlab | approve_merge_request | Approve a merge request. | project,iid
jira | jira_create_ticket | Create a ticket (bug, story or task) in a Jira project. | project_key,type,summary,description
jira | jira_transition_ticket | Move a ticket to another status of its workflow. | ticket,status
jira | jira_assign_ticket | Assign a ticket to a person. | ticket,account_id
jira | jira_search | Find tickets with a JQL query. | jql,max_results
jira | jira_add_worklog | Log time spent on a ticket. | ticket,time_spent,comment
slack | slack_post_message | Post a message to a channel. | channel,text,thread
slack | slack_list_channels | List the channels of the workspace. | limit,cursor
slack | slack_add_reaction | Add an emoji reaction to a message. | channel,timestamp,emoji
slack | slack_get_user_profile | Read the profile of a member of the workspace. | user
slack | slack_upload_file | Share a file in a channel. | channel,filename,content
gmail | gmail_send | Send an e-mail. | to,subject,body,cc
gmail | gmail_search | Search the mailbox for e-mails. | query,max_results
gmail | gmail_create_draft | Save an e-mail as a draft without sending it. | to,subject,body
gmail | gmail_add_label | Put a label on an e-mail. | message_id,label
gmail | gmail_get_attachment | Download an attachment of an e-mail. | message_id,attachment_id
calendar | calendar_create_event | Add an event to a calendar and invite people. | title,start,end,attendees
calendar | calendar_find_free_slots | Find times when all of several people are free. | attendees,from,to,duration
calendar | calendar_cancel_event | Cancel an event and tell its guests. | event_id
calendar | calendar_list_events | List the events between two dates. | calendar_id,from,to
calendar | calendar_respond | Accept or decline an invitation. | event_id,response
drive | drive_search_files | Find files in the drive by name or content. | query,folder
drive | drive_share_file | Give a person access to a file. | file_id,email,role
drive | drive_export_document | Export a document as PDF, Word or text. | file_id,format
drive | drive_create_folder | Create a folder. | name,parent
drive | drive_move_file | Move a file to another folder. | file_id,folder
sheets | sheets_read_range | Read the cells of a range of a spreadsheet. | spreadsheet_id,range
sheets | sheets_append_row | Append a row to a spreadsheet. | spreadsheet_id,sheet,values
sheets | sheets_update_cell | Write a value or a formula into a cell. | spreadsheet_id,cell,value
sheets | sheets_add_chart | Draw a chart from a range. | spreadsheet_id,range,kind
sheets | sheets_create | Create a new spreadsheet. | title
notion | notion_create_page | Create a page in a Notion workspace. | parent,title,content
notion | notion_query_database | Query the rows of a Notion database with a filter. | database_id,filter,sorts
notion | notion_append_block | Append a paragraph, heading or list to a Notion page. | page_id,block
notion | notion_archive_page | Archive a Notion page. | page_id
notion | notion_comment | Comment on a Notion page. | page_id,text
confluence | confluence_get_page | Read a wiki page of Confluence. | page_id,format
confluence | confluence_update_page | Replace the content of a wiki page. | page_id,title,content
confluence | confluence_search | Search the wiki. | cql,limit
confluence | confluence_list_spaces | List the spaces of the wiki. | limit
confluence | confluence_page_history | Show who changed a wiki page, and when. | page_id
linear | linear_create_project | Create a project in Linear with a lead and a target date. | name,team,lead,target_date
linear | linear_set_priority | Set the priority of a Linear issue. | issue_id,priority
linear | linear_list_cycles | List the cycles (sprints) of a team in Linear. | team
linear | linear_add_to_cycle | Plan an issue for a cycle. | issue_id,cycle_id
linear | linear_my_issues | List the Linear issues assigned to the current user. | state
postgres | pg_query | Run a read-only SQL query on the Postgres database. | sql
postgres | pg_list_tables | List the tables of a schema of the Postgres database. | schema
postgres | pg_describe_table | Show the columns, types and indexes of a table. | schema,table
postgres | pg_explain | Explain the plan of a slow query. | sql,analyze
postgres | pg_active_connections | Show the sessions and locks of the Postgres server. | database
mongo | mongo_find | Find documents of a MongoDB collection. | collection,filter,limit
mongo | mongo_insert | Insert documents into a MongoDB collection. | collection,documents
mongo | mongo_aggregate | Run an aggregation pipeline. | collection,pipeline
mongo | mongo_create_index | Create an index on fields of a MongoDB collection. | collection,keys,unique
mongo | mongo_collection_stats | Show the size and number of documents of a MongoDB collection. | collection
redis | redis_get | Get the value of a key in Redis. | key
redis | redis_set | Set a key in Redis, optionally with an expiry. | key,value,ttl
redis | redis_scan_keys | List the keys in Redis that match a pattern. | pattern,count
redis | redis_delete | Delete keys in Redis. | keys
redis | redis_publish | Publish a message on a Redis pub/sub channel. | channel,message
snowflake | snowflake_run_query | Run SQL in the Snowflake warehouse. | sql,warehouse
snowflake | snowflake_warehouse_usage | Show the credits that each warehouse has used. | from,to
snowflake | snowflake_resize_warehouse | Change the size of a warehouse. | warehouse,size
snowflake | snowflake_copy_into | Load files from a stage into a table. | table,stage,pattern
snowflake | snowflake_list_shares | List data shares with other accounts. | kind
aws_s3 | s3_list_objects | List the objects of an S3 bucket. | bucket,prefix
aws_s3 | s3_get_object | Download an object from a bucket. | bucket,key
aws_s3 | s3_put_object | Upload an object to a bucket. | bucket,key,body
aws_s3 | s3_presign_url | Make a temporary link to an object. | bucket,key,expires
aws_s3 | s3_set_lifecycle | Set after how many days objects of a bucket expire. | bucket,days
aws_ec2 | ec2_start_instance | Start a virtual machine. | instance_id,region
aws_ec2 | ec2_stop_instance | Stop a virtual machine. | instance_id,region
aws_ec2 | ec2_describe_instances | List virtual machines with their state and address. | region,filters
aws_ec2 | ec2_create_snapshot | Take a snapshot of a disk volume. | volume_id,description
aws_ec2 | ec2_modify_security_group | Allow or deny traffic to a port of a security group. | group_id,port,cidr
kubernetes | k8s_get_pods | List the pods of a namespace and their status. | namespace,selector
kubernetes | k8s_pod_logs | Read the logs of a pod. | namespace,pod,tail
kubernetes | k8s_scale_deployment | Change the number of replicas of a deployment. | namespace,deployment,replicas
kubernetes | k8s_rollback | Undo the last rollout of a deployment. | namespace,deployment,revision
kubernetes | k8s_apply_manifest | Apply a YAML manifest to the cluster. | manifest
terraform | terraform_plan | Preview the changes to the infrastructure. | workspace,variables
terraform | terraform_apply | Make the planned changes to the infrastructure. | workspace,plan_id
terraform | terraform_state_list | List the resources in the Terraform state. | workspace
terraform | terraform_unlock | Remove a stuck lock from the Terraform state. | workspace,lock_id
terraform | terraform_output | Read the outputs of a Terraform workspace. | workspace,name
datadog | datadog_query_metrics | Query a time series of metrics. | query,from,to
datadog | datadog_search_logs | Search application logs for errors or text. | query,from,to
datadog | datadog_list_monitors | List alerting monitors and whether they are triggered. | tags,state
datadog | datadog_mute_monitor | Silence an alert for a while. | monitor_id,until
datadog | datadog_create_dashboard | Create a dashboard with graphs. | title,widgets
pagerduty | pagerduty_who_is_on_call | Say who is on call for a schedule now. | schedule_id
pagerduty | pagerduty_trigger_incident | Page the engineer on call about an incident. | service_id,title,urgency
pagerduty | pagerduty_acknowledge | Acknowledge an incident. | incident_id
pagerduty | pagerduty_override_shift | Swap an on-call shift with another person. | schedule_id,user_id,start,end
pagerduty | pagerduty_incident_notes | Read the notes of an incident. | incident_id
sentry | sentry_list_exceptions | List unhandled exceptions of a project by frequency. | project,query
sentry | sentry_get_stacktrace | Show the stack trace of an exception. | event_id
sentry | sentry_resolve_exception | Mark an exception as resolved. | issue_id
sentry | sentry_release_health | Show the rate of crash-free sessions of a release. | release
sentry | sentry_assign_owner | Assign an exception to a team. | issue_id,owner
stripe | stripe_create_invoice | Create an invoice for a customer. | customer,items,due_date
stripe | stripe_refund_payment | Refund a payment, wholly or in part. | payment_intent,amount,reason
stripe | stripe_list_subscriptions | List the subscriptions of a customer. | customer,status
stripe | stripe_cancel_subscription | Cancel a subscription at the end of its period. | subscription,at_period_end
stripe | stripe_balance | Show the balance that is available for payout. | currency
shopify | shopify_get_order | Look up an order of the shop by its number. | order_number
shopify | shopify_update_inventory | Set the stock of a product variant. | variant_id,quantity,location
shopify | shopify_create_discount | Create a discount code. | code,percentage,ends_at
shopify | shopify_fulfill_order | Mark an order as shipped, with a tracking number. | order_id,tracking_number
shopify | shopify_list_products | List the products of the shop. | collection,limit
salesforce | salesforce_create_lead | Create a sales lead. | name,company,email,source
salesforce | salesforce_update_opportunity | Change the stage or the amount of an opportunity. | opportunity_id,stage,amount
salesforce | salesforce_soql | Query Salesforce records with SOQL. | query
salesforce | salesforce_log_call | Log a phone call with a contact. | contact_id,notes,duration
salesforce | salesforce_convert_lead | Turn a lead into an account and a contact. | lead_id
hubspot | hubspot_create_contact | Create a contact in HubSpot. | email,first_name,last_name
hubspot | hubspot_enroll_in_sequence | Enroll a contact in an e-mail sequence. | contact_id,sequence_id
hubspot | hubspot_list_deals | List deals by pipeline stage. | stage,limit
hubspot | hubspot_campaign_report | Report opens and clicks of a marketing campaign. | campaign_id
hubspot | hubspot_merge_contacts | Merge duplicate contacts. | primary_id,other_id
zendesk | zendesk_create_support_case | Open a support case for a customer. | requester,subject,comment,priority
zendesk | zendesk_reply | Reply to a customer on a support case. | case_id,comment,public
zendesk | zendesk_escalate | Escalate a support case to another group. | case_id,group
zendesk | zendesk_satisfaction | Show customer satisfaction scores. | from,to
zendesk | zendesk_search_help_center | Search articles of the help center. | query,locale
intercom | intercom_start_chat | Start a live chat with a visitor of the website. | visitor_id,body
intercom | intercom_tag_user | Tag a user of the app. | user_id,tag
intercom | intercom_snooze | Snooze a chat until later. | conversation_id,until
intercom | intercom_list_open_chats | List live chats that are waiting for an answer. | team
intercom | intercom_send_announcement | Publish a product announcement to users of the app. | title,body,audience
twilio | twilio_send_sms | Send a text message to a phone. | to,body
twilio | twilio_place_call | Place a phone call that reads a text aloud. | to,script
twilio | twilio_lookup_number | Find the carrier and country of a phone number. | number
twilio | twilio_list_recordings | List recordings of phone calls. | from,to
twilio | twilio_buy_number | Buy a phone number in a country. | country,area_code
maps | maps_directions | Find the route between two addresses by car, foot or train. | origin,destination,mode
maps | maps_geocode | Convert an address to coordinates. | address
maps | maps_nearby_places | Find restaurants, shops and other places nearby. | location,radius,kind
maps | maps_travel_time | Compute travel times between many points. | origins,destinations
maps | maps_timezone | Find the time zone of a location. | location
weather | weather_forecast | Forecast temperature, rain and wind for the coming days. | location,days
weather | weather_current | Report the present weather. | location
weather | weather_alerts | List storm and flood warnings of a region. | region
weather | weather_history | Look up how warm or wet a past day was. | location,date
weather | weather_air_quality | Report pollution and pollen. | location
finance | stock_quote | Get the latest price of a share. | symbol
finance | stock_history | Get daily prices of a share. | symbol,from,to
finance | exchange_rate | Convert an amount between currencies. | from,to,amount
finance | company_filings | Find annual and quarterly reports of a company. | symbol,form
finance | earnings_calendar | List when companies publish their earnings. | from,to
browser | browser_open | Open a web page in the browser. | url
browser | browser_click | Click an element of the page. | selector
browser | browser_fill_form | Fill the fields of a form on the page. | fields
browser | browser_screenshot | Take a picture of the page. | full_page
browser | browser_read_text | Extract the readable text of the page. | selector
web | web_search | Search the web. | query,count
web | web_fetch | Download a URL as Markdown. | url
web | news_search | Search news articles of the last days. | query,since
web | image_search | Search for pictures. | query,license
web | whois_domain | Look up who owns a domain name. | domain
filesystem | read_file | Read a file of the workspace. | path
filesystem | write_file | Write a file of the workspace. | path,content
filesystem | list_directory | List the files of a directory. | path
filesystem | find_files | Find files by a pattern of their names. | pattern,path
filesystem | delete_file | Delete a file of the workspace. | path
docker | docker_build_image | Build a container image from a Dockerfile. | context,tag
docker | docker_run_container | Run a container. | image,command,env
docker | docker_list_containers | List running containers. | all
docker | docker_container_stats | Show memory and CPU of a container. | container
docker | docker_prune | Remove unused images and volumes. | kind
figma | figma_get_design | Read the layers of a design. | file_key,node_id
figma | figma_export_asset | Export a layer as PNG or SVG. | file_key,node_id,format
figma | figma_list_comments | List the comments on a design. | file_key
figma | figma_list_components | List the components of a design library. | file_key
figma | figma_design_tokens | Read colors, spacing and fonts as variables. | file_key
translate | translate_text | Translate a text into another language. | text,target
translate | detect_language | Tell which language a text is written in. | text
translate | translate_document | Translate a document and keep its layout. | document_id,target
translate | list_glossaries | List glossaries of fixed terms. | source,target
translate | transliterate | Write a text in another script. | text,script
hr | hr_request_vacation | Request days off for an employee. | employee_id,from,to
hr | hr_list_absences | List who is on vacation or sick. | department,date
hr | hr_find_employee | Look up an employee by name or department. | query
hr | hr_submit_expense | Submit an expense with a receipt for reimbursement. | employee_id,amount,receipt
hr | hr_salary_statement | Get the salary statement of a month. | employee_id,month
zoom | zoom_schedule_meeting | Schedule a video meeting and get its link. | topic,start_time,duration
zoom | zoom_list_recordings | List cloud recordings of video meetings. | from,to
zoom | zoom_get_transcript | Read the transcript of a recorded meeting. | meeting_id
zoom | zoom_add_registrant | Register a participant for a webinar. | webinar_id,email
zoom | zoom_end_meeting | End a running video meeting for everyone. | meeting_id
`;

/** What a model searches for, and the tool that it means. */
const QUESTIONS = `
create_issue | file a bug report as an issue in the repository
list_pull_requests | show open pull requests
merge_pull_request | merge the pull request
search_code | find where a function is used in our code
create_branch | make a new git branch
create_merge_request | open a merge request on GitLab
list_pipelines | which CI pipelines ran for this branch
retry_pipeline | rerun the failed pipeline
get_job_log | look at the output of the failed CI job
approve_merge_request | approve a colleague's merge request
jira_create_ticket | create a Jira story
jira_transition_ticket | move the ticket to Done
jira_assign_ticket | assign the ticket to Maria
jira_search | search Jira tickets with JQL
jira_add_worklog | log two hours of work on a ticket
slack_post_message | send a message to a Slack channel
slack_list_channels | which Slack channels exist
slack_add_reaction | react with an emoji to a message
slack_upload_file | share a file in Slack
gmail_send | send an email to the customer
gmail_search | find an email in my mailbox
gmail_create_draft | draft an email without sending
gmail_get_attachment | download the attachment of an e-mail
calendar_create_event | put a meeting on the calendar and invite attendees
calendar_find_free_slots | when are Anna and Ben both free
calendar_cancel_event | cancel the calendar event
calendar_list_events | list my calendar events this week
calendar_respond | accept the invitation
drive_search_files | find a document in the drive
drive_share_file | give someone access to a file
drive_export_document | export the document as a PDF
drive_create_folder | create a new folder in the drive
sheets_read_range | read cells from a spreadsheet
sheets_append_row | add a row to the spreadsheet
sheets_add_chart | make a chart from spreadsheet data
sheets_create | create a new spreadsheet
notion_create_page | create a Notion page
notion_query_database | filter rows of a Notion database
notion_append_block | append text to a Notion page
notion_comment | leave a comment on a Notion page
confluence_get_page | read a Confluence wiki page
confluence_update_page | edit a wiki page
confluence_search | search the Confluence wiki
confluence_page_history | who changed this wiki page
linear_create_project | start a project in Linear
linear_set_priority | change the priority of a Linear issue
linear_list_cycles | list Linear sprints
linear_my_issues | which Linear issues are assigned to me
pg_query | run a SQL query on Postgres
pg_list_tables | which tables are in the Postgres database
pg_describe_table | columns of a database table
pg_explain | explain why a SQL query is slow
pg_active_connections | show locks and sessions of Postgres
mongo_find | find documents in MongoDB
mongo_insert | insert documents into a Mongo collection
mongo_create_index | create an index on a MongoDB collection
redis_get | read a key from Redis
redis_set | store a value in Redis with expiry
redis_scan_keys | list Redis keys matching a pattern
redis_publish | publish to a Redis channel
snowflake_run_query | query the Snowflake data warehouse
snowflake_warehouse_usage | how many Snowflake credits were used
snowflake_resize_warehouse | make the Snowflake warehouse larger
snowflake_copy_into | load files into a Snowflake table
s3_list_objects | list objects in an S3 bucket
s3_get_object | download an object from S3
s3_put_object | upload a file to an S3 bucket
s3_presign_url | temporary download link for an S3 object
s3_set_lifecycle | expire objects in the bucket after 30 days
ec2_start_instance | start a virtual machine
ec2_stop_instance | stop the EC2 instance
ec2_describe_instances | list virtual machines and their addresses
ec2_create_snapshot | snapshot of a disk volume
ec2_modify_security_group | allow traffic to a port in the security group
k8s_get_pods | list Kubernetes pods in a namespace
k8s_pod_logs | read the logs of a pod
k8s_scale_deployment | increase the replicas of a deployment
k8s_rollback | roll back the deployment
k8s_apply_manifest | apply a YAML manifest to the Kubernetes cluster
terraform_plan | preview infrastructure changes with Terraform
terraform_apply | apply the Terraform plan
terraform_unlock | remove the Terraform state lock
terraform_output | read a Terraform output
datadog_query_metrics | query metrics as a time series
datadog_search_logs | search application logs for errors
datadog_list_monitors | which alert monitors are triggered
datadog_mute_monitor | silence an alert
datadog_create_dashboard | create a dashboard with graphs
pagerduty_who_is_on_call | who is on call now
pagerduty_trigger_incident | page the engineer on call
pagerduty_acknowledge | acknowledge the incident
pagerduty_override_shift | swap an on-call shift
sentry_list_exceptions | list unhandled exceptions
sentry_get_stacktrace | stack trace of the exception
sentry_resolve_exception | mark the exception as resolved
sentry_release_health | crash free sessions of a release
stripe_create_invoice | create an invoice for a customer
stripe_refund_payment | refund a payment
stripe_list_subscriptions | list a customer's subscriptions
stripe_cancel_subscription | cancel the subscription
stripe_balance | Stripe balance available for payout
shopify_get_order | look up an order by its number
shopify_update_inventory | set the stock of a product
shopify_create_discount | create a discount code
shopify_fulfill_order | mark the order as shipped with tracking
salesforce_create_lead | create a sales lead
salesforce_update_opportunity | change the stage of an opportunity
salesforce_soql | query Salesforce records
salesforce_log_call | log a phone call with a contact
hubspot_create_contact | add a contact to HubSpot
hubspot_list_deals | list deals by stage
hubspot_campaign_report | how many people opened the marketing campaign
hubspot_merge_contacts | merge duplicate contacts
zendesk_create_support_case | open a support case for a customer
zendesk_reply | reply to a support case
zendesk_escalate | escalate the support case
zendesk_search_help_center | search help center articles
intercom_start_chat | start a live chat with a website visitor
intercom_snooze | snooze the chat until tomorrow
intercom_send_announcement | publish a product announcement to users
twilio_send_sms | send an SMS text message to a phone number
twilio_place_call | call a phone number
twilio_lookup_number | carrier of a phone number
maps_directions | route between two addresses by train
maps_geocode | coordinates of an address
maps_nearby_places | restaurants near the office
maps_timezone | time zone of a city
weather_forecast | weather forecast for tomorrow
weather_current | current weather in Oslo
weather_alerts | storm warnings for the region
weather_air_quality | pollen and air pollution
stock_quote | latest price of a stock share
exchange_rate | convert euros to dollars currency
company_filings | annual report of a company
earnings_calendar | when does the company publish earnings
browser_open | open a web page in the browser
browser_click | click a button on the page
browser_fill_form | fill in a form on the page
browser_screenshot | take a screenshot picture of the page
web_search | search the web
news_search | recent news articles
whois_domain | who owns the domain name
read_file | read a file in the workspace
write_file | write content to a file
list_directory | list the files in a directory
docker_build_image | build a Docker image
docker_container_stats | memory and CPU of a container
figma_export_asset | export a Figma layer as SVG
translate_text | translate this text into French
zoom_schedule_meeting | schedule a Zoom video meeting
`;

export interface ListedTool {
  server: string;
  name: string;
  description: string;
  parameters: readonly string[];
}

function linesOf(text: string): string[][] {
  return text
    .trim()
    .split("\n")
    .map((line) => line.split(" | "));
}

export const MANY_TOOLS: readonly ListedTool[] = linesOf(TOOLS).map(
  ([server = "", name = "", description = "", parameters = ""]) => ({
    server,
    name,
    description,
    parameters: parameters.split(","),
  }),
);

export const TOOL_QUESTIONS = linesOf(QUESTIONS).map(([tool = "", query = ""]) => ({
  tool,
  query,
}));
