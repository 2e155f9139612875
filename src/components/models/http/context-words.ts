/**
 * The words with which makers and servers refuse a request that does not fit into the context of the model. An error
 * about tokens per minute or about the tokens of an answer is another one.
 */
const WORDS: readonly RegExp[] = [
  // OpenAI, Azure, DeepSeek, vLLM, SambaNova, OpenRouter; xAI: "maximum prompt length".
  /maximum (context|prompt|input|sequence|model) (length|window|size)/i,
  /(context|prompt) (length|window|size|limit)[^.]{0,40}\b(is |are )?(exceed|overflow|too (long|large|small))/i,
  /(exceed|overflow|larger|longer|greater|more|beyond|too (long|large|big)|does not fit|doesn't fit|not fit|over)[^.]{0,60}\b(context|prompt)([- _](length|window|size|limit))/i,
  // llama.cpp: "the request exceeds the available context size", "context shift is disabled".
  /exceeds? (the )?(available|model'?s?|maximum|max) context/i,
  /context shift is disabled/i,
  /exceed_context_size/i,
  // LM Studio: "when context the overflows. However, the model is loaded with context length of only 4096 tokens".
  /context length of only/i,
  /context[^.]{0,20}overflow/i,
  /reached context length/i,
  // Anthropic, Fireworks, Bedrock: "Input is too long for requested model".
  /\b(prompt|input|conversation|context|request|message list|messages?|chat history|history)( is|s are| are| token length)?( too long| too large for (the |this )?(model|context))(?! \(max)/i,
  /\b(prompt|input) too long/i,
  // Gemini: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)".
  /(input|prompt) (token(s)? )?(count|length|tokens)[^.]{0,60}\b(exceed|longer|greater|larger|cannot exceed)/i,
  /maximum number of (input |prompt |context )?tokens allowed/i,
  // GitHub Copilot, Moonshot: "Your request exceeded model token limit".
  /exceed(s|ed|ing)?( the)? (model|model's|prompt|input|context)('s)? (max(imum)? )?(token|prompt|input|context)s? (limit|length|count)/i,
  /max_prompt_tokens_exceeded|context_length_exceeded|context_window_exceeded|ContextWindowExceeded/i,
  // Mistral: "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length".
  /(prompt|input|request) (contains|has) \d+ tokens?[^.]{0,60}(too (large|long|many)|exceed)/i,
  // TGI, Together: "`inputs` tokens + `max_new_tokens` must be <= 4096", "`inputs` must have less than 4096 tokens".
  /inputs?`?( tokens)? \+ `?max_(new_)?tokens/i,
  /`?inputs?`? must have (less|fewer) than \d+ tokens/i,
  // Cohere: "too many tokens: total number of tokens in the prompt cannot exceed 4081".
  /too many tokens: /i,
  /too many (input|prompt) tokens/i,
  /total number of tokens[^.]{0,60}(exceed|greater)/i,
  // vLLM: "The decoder prompt (length 5000) is longer than the maximum model length of 4096".
  /prompt[^.]{0,40} is longer than/i,
  /input[^.]{0,40} is longer than/i,
  /max_tokens must be at least 1, got -\d+/i,
  /input prompt \(\d+ tokens\) is too long/i,
  // SGLang: "Requested token count exceeds the model's maximum context length", "Input length (5000) exceeds the maximum allowed length".
  /requested token count exceeds/i,
  /(prompt|input|sequence) length[^.]{0,40}\bexceed/i,
  // Groq, Cerebras: "Please reduce the length of the messages or completion".
  /reduce the length of (the |your )?(messages?|prompt|input|either|conversation)/i,
  // DashScope: "Range of input length should be [1, 30720]".
  /range of input length should be/i,
  // Workers AI: "exceeded this model context window limit".
  /(exceed|over)\w* (this |the )?model('s)? context window/i,
  /exceed\w*[^.]{0,40}context (window|length|limit)/i,
  /context (window|length|limit) exceed/i,
  // TensorRT-LLM, MLC.
  /prompt (tokens|length)[^.]{0,40}(exceed|max_input|max_num_tokens)/i,
  // Zhipu, Baidu and others in Chinese.
  /超长|(上下文|输入|提示).{0,12}(超过|超出|过长|太长)|(超过|超出).{0,12}(上下文|最大输入|最大长度)/,
];

/** Errors that speak of tokens or lengths, and whose request would fit. */
const OTHERS =
  /per[ -](min(ute)?|day|hour|second)|\b[TR]P[MDS]\b|rate limit|please wait|context (deadline|canceled|cancelled)|completion tokens|deadline exceeded/i;

/** True if an error says that the request does not fit into the model's context. */
export function saysContextIsFull(message: string): boolean {
  if (!WORDS.some((words) => words.test(message))) return false;
  return !OTHERS.test(message) || /maximum (context|prompt) length/i.test(message);
}
