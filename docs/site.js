// A button at each block of code that copies it.
for (const block of document.querySelectorAll('.rst-content pre')) {
  const button = document.createElement('button');
  button.className = 'copy';
  button.textContent = 'copy';
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = 'copied';
    setTimeout(() => { button.textContent = 'copy'; }, 1500);
  });
  block.append(button);
}
